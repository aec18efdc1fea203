// The recent decisions that people view, as data.
import type { ImageUse } from "../../../oci/inspection.ts";
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
