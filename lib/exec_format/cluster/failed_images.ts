// The images that are known to lack an architecture which they claim, in memory on every replica, for placement.
import { failedArchitectures, type FailedImage, parseFailedImage } from "../decide/failed_image.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { Resource } from "../../k8s/types.ts";
import { EnoexecLabel } from "../../names.ts";

export interface FailedImages {
  run(signal: AbortSignal): Promise<void>;
  /** The architectures on which an image has failed, for pods of a namespace; usually none. */
  architecturesOf(image: { readonly digest: string; readonly namespace: string }): readonly string[];
}

const NONE: readonly string[] = [];

export function openFailedImages(
  { namespace, ...deps }: ReflectorDeps & { readonly namespace: string },
): FailedImages {
  const byDigest = new Map<string, readonly FailedImage[]>();
  const records = new Reflector<FailedImage>({
    ...deps,
    resource: Resource.enoexecEvents,
    namespace,
    labelSelector: EnoexecLabel.failedArchitecture,
    parse: parseFailedImage,
    retain: RETENTION.failedImages,
    onChange: ({ value: { digest } }) => {
      const left = [...records.values()].filter((record) => record.digest === digest);
      if (left.length === 0) byDigest.delete(digest);
      else byDigest.set(digest, left);
    },
    name: "failed images",
  });
  return {
    run: (signal) => records.run(signal),
    architecturesOf: ({ digest, namespace: podNamespace }) => {
      const found = byDigest.get(digest);
      return found === undefined
        ? NONE
        : failedArchitectures(found, { digest, namespace: podNamespace, nowMs: deps.clock.nowMs() });
    },
  };
}
