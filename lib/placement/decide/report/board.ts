// What was decided lately, kept in memory for people to look at: a bounded ring and a counter for each kind.
import type { ImageUse } from "../../../oci/types.ts";
import type { PlacementDecision } from "../decision_types.ts";

/** How an admission or a turn ended. `reduced`: the gate came off without all that was decided, or without a leader. */
export const BOARD_KINDS = [
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

export type BoardKind = typeof BOARD_KINDS[number];

export interface BoardEntry {
  /** Wall time (epoch ms). */
  readonly atMs: number;
  readonly namespace: string;
  /** Name, or the `generateName` of a pod that has no name yet. */
  readonly pod: string;
  readonly kind: BoardKind;
  /** The word that the log line has: `Placed`, `InspectionFailing`, `DaemonSet`… */
  readonly reason: string;
  /** What the pod may run on; empty when the decision requires nothing of nodes. */
  readonly architectures: readonly string[];
  readonly images: readonly BoardImage[];
  /** How long the pod has been held so far (ms); undefined when it was not, or is only beginning to be. */
  readonly gatedMs: number | undefined;
}

export interface BoardImage {
  readonly image: string;
  /** Empty while it is not known. */
  readonly architectures: readonly string[];
  /** Why it could not be inspected; empty when it was, or was not tried. */
  readonly failure: string;
}

export interface BoardSnapshot {
  /** Newest first, at most the board's capacity. */
  readonly recent: readonly BoardEntry[];
  /** Entries since the process started, by kind; every kind is there, at zero if need be. */
  readonly totals: Readonly<Record<BoardKind, number>>;
}

/** A pod that is gated now. `sinceMs` is wall time (epoch ms). */
export interface GatedSince {
  readonly namespace: string;
  readonly pod: string;
  readonly sinceMs: number;
}

export interface Board {
  /** Takes constant time; a full ring drops its oldest entry. */
  record(entry: BoardEntry): void;
  /** A copy that later records leave alone. */
  snapshot(): BoardSnapshot;
}

/** No name that Kubernetes accepts is longer; a webhook gets names before they are validated. */
const MAX_NAME_LENGTH = 253;
/** More than GOARCH has for Linux in everyday images; a hostile index may list thousands. */
const MAX_ARCHITECTURES = 16;
const MAX_SHOWN_IMAGES = 8;
const MAX_TEXT_LENGTH = 512;

/** Opens an empty board. Its capacity is a whole number above zero. */
export function openBoard({ capacity }: { readonly capacity: number }): Board {
  const ring: BoardEntry[] = [];
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

function zeroes(): Record<BoardKind, number> {
  return { place: 0, gate: 0, retry: 0, nowhere: 0, fallback: 0, release: 0, reduced: 0, ignore: 0, pass: 0 };
}

/** Copies member by member, so that the ring keeps alive nothing else of its caller's. */
function bounded({ atMs, namespace, pod, kind, reason, architectures, images, gatedMs }: BoardEntry): BoardEntry {
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

/** Not cut but replaced: a cut text may keep the whole one in memory. */
function boundedName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : "(name too long)";
}

function boundedText(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : "(text too long)";
}

export function boardImages(decision: PlacementDecision): readonly BoardImage[] {
  const outcomes = "images" in decision ? decision.images : [];
  const known = outcomes.filter(({ source }) => source !== "failed")
    .map(({ image, architectures }) => ({ image, architectures, failure: "" }));
  if (!("failed" in decision)) return known;
  const { image, failure } = decision.failed;
  return [{ image, architectures: [], failure: `${failure.reason}: ${failure.message}` }, ...known];
}

export function unknownImages(images: readonly ImageUse[]): readonly BoardImage[] {
  return images.map(({ image }) => ({ image, architectures: [], failure: "" }));
}
