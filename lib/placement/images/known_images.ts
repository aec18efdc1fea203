// Which images are known, so that pods may be placed by them without a request.
import { LRUCache } from "lru-cache";
import type { ImageCache, RecalledImage } from "../../oci/cache/image_cache.ts";
import { CACHE_SHARES, weightOfTexts } from "../../oci/cache_limits.ts";
import type { PullPlanner } from "../../oci/config/planner.ts";
import type { Freshness, InspectionReport } from "../../oci/inspection_request.ts";
import type { ImageUse, InspectedImage } from "../../oci/inspection.ts";
import type { PullIdentity } from "../../vocabulary/pull_identity.ts";

export interface KnownPodImages {
  readonly images: readonly InspectedImage[];
  /** Whether a tag is past half of its TTL and should be looked up in the background. */
  readonly isAging: boolean;
}

interface KnownImagesDeps {
  readonly cache: Pick<ImageCache, "recall">;
  readonly planner: Pick<PullPlanner, "plan">;
}

export class KnownImages {
  readonly #deps: KnownImagesDeps;
  /** Readership ids of private images, by image and pull identity. */
  readonly #readershipIds = new LRUCache<string, number>({
    maxSize: CACHE_SHARES.readerships,
    sizeCalculation: (_, key) => weightOfTexts(key),
  });

  constructor(deps: KnownImagesDeps) {
    this.#deps = deps;
  }

  /** Undefined if any image is unknown, too old or, for `pullsAlways`, older than `lookupSinceMs` (monotonic). */
  recall(images: readonly ImageUse[], identity: PullIdentity, lookupSinceMs = Infinity): KnownPodImages | undefined {
    const known: InspectedImage[] = [];
    let isAging = false;
    for (const use of images) {
      const found = this.#find(use.image, identity, use.pullsAlways ? { lookupSinceMs } : "cached");
      if (found === undefined) return undefined;
      known.push({ ...use, inspection: found.inspection });
      isAging ||= found.isAging;
    }
    return { images: known, isAging };
  }

  remember(image: string, { readershipId }: InspectionReport, identity: PullIdentity): void {
    if (readershipId !== undefined) this.#readershipIds.set(keyOf(image, identity), readershipId);
  }

  /** Forgets which identities have read private images. Needed when a cluster-wide pull secret changes. */
  forgetPrivate(): void {
    this.#readershipIds.clear();
  }

  #find(image: string, identity: PullIdentity, freshness: Freshness): RecalledImage | undefined {
    const { cache, planner } = this.#deps;
    const plan = planner.plan(image);
    if (plan.kind === "refused") return undefined;
    const id = this.#readershipIds.get(keyOf(image, identity));
    return cache.recall(plan.reference, { readershipIds: id === undefined ? [] : [id], freshness });
  }
}

function keyOf(image: string, { namespace, serviceAccount, pullSecrets }: PullIdentity): string {
  return JSON.stringify([namespace, serviceAccount, [...pullSecrets].sort(), image]);
}
