// What this replica knows of images right now, answered without waiting: the memory behind warm admission.
// Filled by pod_images.ts after each inspection; never holds a failure.
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { InspectionReport } from "../oci/inspector.ts";
import type { ImageUse, InspectedImage, Inspection } from "../oci/types.ts";

/** Who asks: knowledge read with a pull secret serves only the namespace and secret names that read it (design §5). */
export interface PullScope {
  readonly namespace: string;
  readonly pullSecrets: readonly string[];
}

/** The memory. All calls are synchronous. */
export interface KnownImages {
  /** Everything about these images, or undefined when any of them is unknown or too old. */
  recall(images: readonly ImageUse[], scope: PullScope): readonly InspectedImage[] | undefined;
  /** Whether a tag among these images is past half of its life: worth looking up in the background. */
  isAging(images: readonly ImageUse[], scope: PullScope): boolean;
  remember(image: string, report: InspectionReport, scope: PullScope): void;
  /** Drops what was read with credentials: a cluster-wide pull secret changed. */
  forgetPrivate(): void;
}

/** An answer for a tag that `Always` pods of the same second share (ms). */
export const ALWAYS_SHARED_MS = 1_000;

interface Entry {
  readonly inspection: Inspection;
  readonly verifiedAtMs: number;
}

/** Opens an empty memory of at most `maxEntries` images; a tag is believed for `tagTtlMs`, a digest for good. */
export function openKnownImages(
  options: { readonly clock: Clock; readonly maxEntries: number; readonly tagTtlMs: number },
): KnownImages {
  const { clock, tagTtlMs } = options;
  const entries = new LRUCache<string, Entry>({ max: options.maxEntries });

  const find = ({ image, always }: ImageUse, scope: PullScope): Entry | undefined => {
    const entry = entries.get(publicKey(image)) ?? entries.get(privateKey(image, scope));
    if (entry === undefined) return undefined;
    const lifeMs = always ? ALWAYS_SHARED_MS : isPinned(image) ? Infinity : tagTtlMs;
    return clock.monotonicMs() - entry.verifiedAtMs <= lifeMs ? entry : undefined;
  };

  return {
    recall: (images, scope) => {
      const known: InspectedImage[] = [];
      for (const use of images) {
        const entry = find(use, scope);
        if (entry === undefined) return undefined;
        known.push({ ...use, inspection: entry.inspection });
      }
      return known;
    },
    isAging: (images, scope) =>
      images.some((use) => {
        const entry = isPinned(use.image) ? undefined : find(use, scope);
        return entry !== undefined && clock.monotonicMs() - entry.verifiedAtMs > tagTtlMs / 2;
      }),
    remember: (image, report, scope) => {
      if (report.inspection.kind === "failed") return;
      const key = report.access === "public" ? publicKey(image) : privateKey(image, scope);
      entries.set(key, { inspection: report.inspection, verifiedAtMs: clock.monotonicMs() });
    },
    forgetPrivate: () => {
      for (const key of [...entries.keys()]) if (!key.startsWith(PUBLIC)) entries.delete(key);
    },
  };
}

// Neither an image nor a namespace contains a space, so keys cannot run into each other.
const PUBLIC = "public ";

function publicKey(image: string): string {
  return PUBLIC + image;
}

function privateKey(image: string, { namespace, pullSecrets }: PullScope): string {
  return `${namespace} ${[...pullSecrets].sort().join(",")} ${image}`;
}

function isPinned(image: string): boolean {
  return image.includes("@sha");
}
