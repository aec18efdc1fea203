// Limits of this process on pods whose images are read. Each answers one harm; namespaces share each, as those in image_limits.ts.
import { FairLimiter } from "../../oci/limits/fair_limiter.ts";

/** Free factors of images that are dropped where they would wait, so that gated pods find permits: 500 and 250 when alone. */
export const BACKGROUND_FACTORS = { prefetched: 1 / 7, noticed: 1 / 15 } as const;

export class PodLimits {
  /** Images that are inspected or wait: 17 KB of heap each while registries are silent. */
  readonly images = new FairLimiter({ limit: 4_000, freeFactor: 1 });
  /** Secrets of up to 1 MiB, read whole. */
  readonly secrets = new FairLimiter({ limit: 32, freeFactor: 1 });
}
