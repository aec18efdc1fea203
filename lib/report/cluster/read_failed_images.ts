// The images that a cluster has recorded as lacking an architecture which they claim, for commands of a person.
import { type FailedImage, parseFailedImage } from "../../exec_format/decide/failed_image.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { Resource } from "../../k8s/types.ts";
import { EnoexecLabel } from "../../names.ts";
import { isForbidden, isNotFound } from "../../k8s/api_error.ts";

/** Where Archway is installed unless its manifests are moved; not needed by users who may list all namespaces. */
const USUAL_NAMESPACE = "archway-system";

export interface FailedImageList {
  readonly images: readonly FailedImage[];
  /** Whether they may not be listed, so that they are not known. */
  readonly isForbidden: boolean;
}

/** Reads the records; there are none where the cluster does not have the kind. */
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
