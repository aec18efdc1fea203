// The effects of --exec-format-errors: what the leader does about them, and whether placement considers them.
import type { ExecFormatSettings } from "../controllers/exec_format/deps.ts";
import type { Config } from "../lib/config/parse.ts";
import type { PodImageInspector } from "../lib/placement/images/pod_image_inspector.ts";
import type { FailedImages } from "../lib/exec_format/cluster/failed_images.ts";
import type { ReadApi } from "../lib/k8s/api.ts";
import type { Logger } from "../lib/log.ts";
import type { ServeDeps } from "./capability.ts";

export function execFormatSettings(
  { namespace, execFormatErrors }: Pick<Config, "namespace" | "execFormatErrors">,
): ExecFormatSettings {
  return { namespace, watchesPods: execFormatErrors !== "off", repairs: execFormatErrors === "repair" };
}

interface ImagesToPlace {
  readonly images: PodImageInspector;
  /** Must be run; undefined when no architecture is excluded. */
  readonly failedImages: FailedImages | undefined;
}

/** Images with the architectures they claim. With `avoid` or `repair`, without architectures on which they failed. */
export async function openImagesToPlace(
  { config, clock, log }: Pick<ServeDeps, "config" | "clock"> & { readonly log: Logger },
  { api, claimedImages }: { readonly api: ReadApi; readonly claimedImages: PodImageInspector },
): Promise<ImagesToPlace> {
  if (config.execFormatErrors !== "avoid" && config.execFormatErrors !== "repair") {
    return { images: claimedImages, failedImages: undefined };
  }
  const { openFailedImages } = await import("../lib/exec_format/cluster/failed_images.ts");
  const { podImagesWithoutFailed } = await import("../lib/placement/images/pod_images_without_failed.ts");
  const failedImages = openFailedImages({ api, clock, log, namespace: config.namespace });
  return { images: podImagesWithoutFailed(claimedImages, failedImages.architecturesOf), failedImages };
}
