// What --exec-format-errors switches on: what the leader does about them, and whether placement takes them into account.
import type { ExecFormatSettings } from "../controllers/exec_format/deps.ts";
import type { Clock } from "../lib/clock.ts";
import type { Config } from "../lib/config/parse.ts";
import type { PodImages } from "../lib/images/pods/pod_images.ts";
import type { FailedImages } from "../lib/exec_format/cluster/failed_images.ts";
import type { ReadApi } from "../lib/k8s/api.ts";
import type { Logger } from "../lib/log.ts";

export function execFormatSettings(
  { namespace, execFormatErrors }: Pick<Config, "namespace" | "execFormatErrors">,
): ExecFormatSettings {
  return { namespace, watchesPods: execFormatErrors !== "off", repairs: execFormatErrors === "repair" };
}

interface PlacedImages {
  readonly images: PodImages;
  /** Must be run; undefined where no architecture is left out. */
  readonly failedImages: FailedImages | undefined;
}

/** What images claim; with `avoid` or `repair` without the architectures on which they were seen to fail. */
export async function openPlacedImages(
  { config, clock, log }: {
    readonly config: Pick<Config, "namespace" | "execFormatErrors">;
    readonly clock: Clock;
    readonly log: Logger;
  },
  { api, claimedImages }: { readonly api: ReadApi; readonly claimedImages: PodImages },
): Promise<PlacedImages> {
  if (config.execFormatErrors !== "avoid" && config.execFormatErrors !== "repair") {
    return { images: claimedImages, failedImages: undefined };
  }
  const { openFailedImages } = await import("../lib/exec_format/cluster/failed_images.ts");
  const { podImagesWithoutFailed } = await import("../lib/images/pods/without_failed.ts");
  const failedImages = openFailedImages({ api, clock, log, namespace: config.namespace });
  return { images: podImagesWithoutFailed(claimedImages, failedImages.architecturesOf), failedImages };
}
