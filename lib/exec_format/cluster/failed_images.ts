// The images that are known to lack an architecture which they claim, in memory on every replica, for placement.
import type { Clock } from "../../clock.ts";
import { failedArchitectures, type FailedImage, parseFailedImage } from "../decide/failed_image.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { KEPT } from "../../k8s/kept.ts";
import { Reflector } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";
import { EnoexecLabel } from "../../names.ts";

export interface FailedImages {
  run(signal: AbortSignal): Promise<void>;
  /** The architectures on which an image has failed, for pods of a namespace; usually none. */
  architecturesOf(image: { readonly digest: string; readonly namespace: string }): readonly string[];
}

const NONE: readonly string[] = [];

export function openFailedImages(
  { namespace, ...deps }: {
    readonly api: ReadApi;
    readonly clock: Clock;
    readonly log: Logger;
    readonly namespace: string;
  },
): FailedImages {
  const byDigest = new Map<string, readonly FailedImage[]>();
  const records = new Reflector<FailedImage>({
    ...deps,
    resource: Resource.enoexecEvents,
    namespace,
    labelSelector: EnoexecLabel.failedArchitecture,
    parse: parseFailedImage,
    keep: KEPT.failedImages,
    onChange: ({ value: { digest } }) => {
      const left = [...records.values()].filter((record) => record.digest === digest);
      if (left.length === 0) byDigest.delete(digest);
      else byDigest.set(digest, left);
    },
    name: "failed images",
  });
  return {
    run: (signal) => records.run(signal),
    architecturesOf: ({ digest, namespace: of }) => {
      const found = byDigest.get(digest);
      return found === undefined
        ? NONE
        : failedArchitectures(found, { digest, namespace: of, nowMs: deps.clock.nowMs() });
    },
  };
}
