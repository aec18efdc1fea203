// Reads the images that a cluster has recorded as failing on an architecture that they claim.
import { type FailedImage, parseFailedImage } from "../../exec_format/decide/failed_image.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { Resource } from "../../k8s/types.ts";
import { EnoexecLabel } from "../../names.ts";
import { isForbidden, isNotFound } from "../../k8s/api_error.ts";

/** The namespace in Archway's manifests. It alone is read if not all namespaces may be listed. */
const USUAL_NAMESPACE = "archway-system";

export interface FailedImageList {
  readonly images: readonly FailedImage[];
  /** Whether the records may not be listed. Then the images are unknown. */
  readonly isForbidden: boolean;
}

/** Reads the records; there are none if the cluster does not have their kind. */
export async function readFailedImages(api: ReadApi, signal: AbortSignal): Promise<FailedImageList> {
  for (const within of [{}, { namespace: USUAL_NAMESPACE }]) {
    try {
      const failed: FailedImage[] = [];
      const wanted = { ...within, labelSelector: EnoexecLabel.failedArchitecture, signal };
      for await (const object of listAll(api, Resource.enoexecEvents, wanted)) {
        const image = parseFailedImage(object);
        if (image !== undefined) failed.push(image);
      }
      return { images: failed, isForbidden: false };
    } catch (error) {
      if (isNotFound(error)) return { images: [], isForbidden: false };
      if (!isForbidden(error)) throw error;
    }
  }
  return { images: [], isForbidden: true };
}
