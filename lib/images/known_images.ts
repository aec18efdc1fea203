// What this replica may place pods by right now, without asking anybody: the policy over the inspector's memory that warm
// admission uses. Holds nothing of images itself, only whose pull secrets have read which private one.
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { CachedInspector, RecalledImage } from "../oci/cache/cached.ts";
import { CACHE_SHARES, weightOfTexts } from "../oci/cache/weights.ts";
import type { InspectionReport } from "../oci/inspector.ts";
import type { ImageUse, InspectedImage } from "../oci/types.ts";
import type { PullScope } from "./pull_secrets.ts";

/** The memory. All calls are synchronous. */
export interface KnownImages {
  /**
   * Everything about these images, or undefined when any of them is unknown or too old. A tag with `always` is only known
   * when it was looked up after `admittedAtMs` (epoch ms); without that, never.
   */
  recall(
    images: readonly ImageUse[],
    scope: PullScope,
    options?: { readonly admittedAtMs?: number | undefined },
  ): readonly InspectedImage[] | undefined;
  /** Whether a tag among these images is past half of its life: worth looking up in the background. */
  isAging(images: readonly ImageUse[], scope: PullScope): boolean;
  /** Tags that were last looked up before are aging (epoch ms). */
  agingBeforeMs(): number;
  /** Keeps that a report was made for this scope. */
  remember(image: string, report: InspectionReport, scope: PullScope): void;
  /** Drops who has read what with credentials: a cluster-wide pull secret changed. */
  forgetPrivate(): void;
}

const MAX_GRANTS = 50_000;

/** Opens it over a memory; a tag is believed for `tagTtlMs`, a digest for good. */
export function openKnownImages(
  options: { readonly memory: Pick<CachedInspector, "recall">; readonly clock: Clock; readonly tagTtlMs: number },
): KnownImages {
  const { memory, clock, tagTtlMs } = options;
  /** The access scope that a pull scope has for a private image. */
  const grants = new LRUCache<string, number>({
    max: MAX_GRANTS,
    maxSize: CACHE_SHARES.grants,
    sizeCalculation: (_, key) => weightOfTexts(key),
  });

  const find = (image: string, scope: PullScope): RecalledImage | undefined => {
    const granted = grants.get(grantKey(image, scope));
    return memory.recall(image, granted === undefined ? [] : [granted]);
  };

  /** A negative age is another replica's clock, or ours set back: then the tag is not believed. */
  const isYoung = (verifiedAtMs: number, lifeMs: number): boolean => {
    const ageMs = clock.nowMs() - verifiedAtMs;
    return ageMs >= 0 && ageMs <= lifeMs;
  };

  return {
    recall: (images, scope, { admittedAtMs = Infinity } = {}) => {
      const known: InspectedImage[] = [];
      for (const use of images) {
        const found = find(use.image, scope);
        const isKnown = found !== undefined &&
          (found.tag === undefined || isYoung(found.tag.verifiedAtMs, tagTtlMs)) &&
          (found.tag === undefined || !use.always || found.tag.isOwn && found.tag.verifiedAtMs >= admittedAtMs);
        if (!isKnown) return undefined;
        known.push({ ...use, inspection: found.inspection });
      }
      return known;
    },
    isAging: (images, scope) =>
      images.some(({ image }) => {
        const tag = find(image, scope)?.tag;
        return tag !== undefined && isYoung(tag.verifiedAtMs, tagTtlMs) && !isYoung(tag.verifiedAtMs, tagTtlMs / 2);
      }),
    agingBeforeMs: () => clock.nowMs() - tagTtlMs / 2,
    remember: (image, { scopeId }, scope) => {
      if (scopeId !== undefined) grants.set(grantKey(image, scope), scopeId);
    },
    forgetPrivate: () => grants.clear(),
  };
}

function grantKey(image: string, { namespace, serviceAccount = "", pullSecrets }: PullScope): string {
  return JSON.stringify([namespace, serviceAccount, [...pullSecrets].sort(), image]);
}
