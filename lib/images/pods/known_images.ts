// What warm admission may place pods by without a request: the policy over the inspector's cache.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { CachedInspector, RecalledImage } from "../../oci/cache/cached.ts";
import { CACHE_SHARES, weightOfTexts } from "../../oci/weights.ts";
import type { PullPlanner } from "../../oci/pull_plan.ts";
import type { InspectionReport } from "../../oci/inspector.ts";
import type { ImageUse, InspectedImage } from "../../oci/types.ts";
import type { PullScope } from "./pull_secrets.ts";

export interface KnownPodImages {
  readonly images: readonly InspectedImage[];
  /** Whether a tag among them is past half of its TTL: to be looked up in the background. */
  readonly isAging: boolean;
}

export interface KnownImages {
  /** Undefined when any image is unknown or too old. With `always` a tag must be of after `admittedAtMs` (epoch ms). */
  recall(
    images: readonly ImageUse[],
    scope: PullScope,
    options?: { readonly admittedAtMs?: number | undefined },
  ): KnownPodImages | undefined;
  remember(image: string, report: InspectionReport, scope: PullScope): void;
  /** Drops which scopes have read what with credentials: a cluster-wide pull secret changed. */
  forgetPrivate(): void;
}

interface KnownImagesDeps {
  readonly memory: Pick<CachedInspector, "recall">;
  readonly planner: PullPlanner;
  readonly clock: Clock;
  readonly tagTtlMs: number;
}

export class KnownImagesPolicy implements KnownImages {
  readonly #deps: KnownImagesDeps;
  readonly #grants = new LRUCache<string, number>({
    maxSize: CACHE_SHARES.grants,
    sizeCalculation: (_, key) => weightOfTexts(key),
  });

  constructor(deps: KnownImagesDeps) {
    this.#deps = deps;
  }

  recall(
    images: readonly ImageUse[],
    scope: PullScope,
    { admittedAtMs = Infinity }: { readonly admittedAtMs?: number | undefined } = {},
  ): KnownPodImages | undefined {
    const known: InspectedImage[] = [];
    const agingBeforeMs = this.#deps.clock.nowMs() - this.#deps.tagTtlMs / 2;
    let isAging = false;
    for (const use of images) {
      const found = this.#find(use.image, scope);
      if (found === undefined || !this.#isBelieved(found.tag, use.always ? admittedAtMs : -Infinity)) return undefined;
      known.push({ ...use, inspection: found.inspection });
      isAging ||= found.tag !== undefined && found.tag.verifiedAtMs < agingBeforeMs;
    }
    return { images: known, isAging };
  }

  remember(image: string, { scopeId }: InspectionReport, scope: PullScope): void {
    if (scopeId !== undefined) this.#grants.set(grantKey(image, scope), scopeId);
  }

  forgetPrivate(): void {
    this.#grants.clear();
  }

  #find(image: string, scope: PullScope): RecalledImage | undefined {
    const { memory, planner } = this.#deps;
    const plan = planner.plan(image);
    if (plan.kind === "refused") return undefined;
    const granted = this.#grants.get(grantKey(image, scope));
    return memory.recall(plan.reference, granted === undefined ? [] : [granted]);
  }

  /** A negative age is another replica's clock, or ours set back: then the tag is not used. */
  #isBelieved(tag: RecalledImage["tag"], notBeforeMs: number): boolean {
    if (tag === undefined) return true;
    const ageMs = this.#deps.clock.nowMs() - tag.verifiedAtMs;
    const isNew = notBeforeMs === -Infinity || tag.isOwn && tag.verifiedAtMs >= notBeforeMs;
    return ageMs >= 0 && ageMs <= this.#deps.tagTtlMs && isNew;
  }
}

function grantKey(image: string, { namespace, serviceAccount = "", pullSecrets }: PullScope): string {
  return JSON.stringify([namespace, serviceAccount, [...pullSecrets].sort(), image]);
}
