// Recent decisions in memory, for people to view: a bounded ring and a counter per kind.
import type { ImageUse } from "../../../oci/types.ts";
import type { PlacementDecision } from "../decision_types.ts";

/** The result of an admission or a reconcile. `reduced`: released without the full decision, or without a leader. */
export const DECISION_KINDS = [
  "place",
  "gate",
  "retry",
  "nowhere",
  "fallback",
  "release",
  "reduced",
  "ignore",
  "pass",
] as const;

export type DecisionKind = typeof DECISION_KINDS[number];

export interface RecentDecision {
  /** Wall time (epoch ms). */
  readonly atMs: number;
  readonly namespace: string;
  /** Name, or the `generateName` of a pod that has no name yet. */
  readonly pod: string;
  readonly kind: DecisionKind;
  /** As in the log line: `Placed`, `InspectionFailing`, `DaemonSet`… */
  readonly reason: string;
  /** The pod's required architectures; empty without a requirement. */
  readonly architectures: readonly string[];
  readonly images: readonly DecidedImage[];
  /** How long the pod has been held (ms); undefined when it was not, or its gate is just being added. */
  readonly gatedMs: number | undefined;
}

export interface DecidedImage {
  readonly image: string;
  /** Empty while unknown. */
  readonly architectures: readonly string[];
  /** Why inspection failed; empty if it succeeded or was not tried. */
  readonly failure: string;
}

export interface DecisionsSnapshot {
  /** Newest first, at most the capacity. */
  readonly recent: readonly RecentDecision[];
  /** Entries since the process started, by kind, including zeros. */
  readonly totals: Readonly<Record<DecisionKind, number>>;
}

/** A pod that is gated now. `sinceMs` is wall time (epoch ms). */
export interface GatedSince {
  readonly namespace: string;
  readonly pod: string;
  readonly sinceMs: number;
}

export interface RecentDecisions {
  /** Takes constant time; a full ring drops its oldest entry. */
  record(entry: RecentDecision): void;
  /** A copy that later records do not change. */
  snapshot(): DecisionsSnapshot;
}

/** The longest name in Kubernetes. A webhook gets names before they are validated. */
const MAX_NAME_LENGTH = 253;
/** More than everyday images have; a hostile index may list thousands. */
const MAX_ARCHITECTURES = 16;
const MAX_SHOWN_IMAGES = 8;
const MAX_TEXT_LENGTH = 512;

/** Opens an empty ring. Its capacity is a whole number above zero. */
export function openRecentDecisions({ capacity }: { readonly capacity: number }): RecentDecisions {
  const ring: RecentDecision[] = [];
  const totals = zeroes();
  let next = 0;
  return {
    record: (entry) => {
      ring[next] = bounded(entry);
      next = (next + 1) % capacity;
      totals[entry.kind]++;
    },
    snapshot: () => ({
      recent: [...ring.slice(next), ...ring.slice(0, next)].reverse(),
      totals: { ...totals },
    }),
  };
}

function zeroes(): Record<DecisionKind, number> {
  return { place: 0, gate: 0, retry: 0, nowhere: 0, fallback: 0, release: 0, reduced: 0, ignore: 0, pass: 0 };
}

/** Copies each member, so that the ring retains none of its caller's objects. */
function bounded(
  { atMs, namespace, pod, kind, reason, architectures, images, gatedMs }: RecentDecision,
): RecentDecision {
  return {
    atMs,
    namespace: boundedName(namespace),
    pod: boundedName(pod),
    kind,
    reason,
    architectures: boundedNames(architectures),
    images: images.slice(0, MAX_SHOWN_IMAGES).map((image) => ({
      image: boundedText(image.image),
      architectures: boundedNames(image.architectures),
      failure: boundedText(image.failure),
    })),
    gatedMs,
  };
}

function boundedNames(names: readonly string[]): readonly string[] {
  return names.slice(0, MAX_ARCHITECTURES).map(boundedName);
}

/** Replaces a long name: a slice may keep the whole text in memory. */
function boundedName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : "(name too long)";
}

function boundedText(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : "(text too long)";
}

export function decidedImages(decision: PlacementDecision): readonly DecidedImage[] {
  const outcomes = "images" in decision ? decision.images : [];
  const known = outcomes.filter(({ source }) => source !== "failed")
    .map(({ image, architectures }) => ({ image, architectures, failure: "" }));
  if (!("failed" in decision)) return known;
  const { image, failure } = decision.failed;
  return [{ image, architectures: [], failure: `${failure.reason}: ${failure.message}` }, ...known];
}

export function unknownImages(images: readonly ImageUse[]): readonly DecidedImage[] {
  return images.map(({ image }) => ({ image, architectures: [], failure: "" }));
}
