// Recent decisions in memory, for people to view: a bounded ring and a counter per kind.
import type { DecisionKind, DecisionsSnapshot, RecentDecision } from "../decide/history/recent_decisions.ts";

/** The longest name in Kubernetes. A webhook gets names before they are validated. */
const MAX_NAME_LENGTH = 253;
/** More architectures than everyday images have; a hostile index may list thousands. */
const MAX_ARCHITECTURES = 16;
const MAX_SHOWN_IMAGES = 8;
const MAX_TEXT_LENGTH = 512;

export class DecisionRing {
  readonly #capacity: number;
  readonly #entries: RecentDecision[] = [];
  readonly #totals = zeroes();
  #next = 0;

  /** `capacity`: a whole number above zero. */
  constructor({ capacity }: { readonly capacity: number }) {
    this.#capacity = capacity;
  }

  /** Takes constant time; a full ring drops its oldest entry. */
  record(entry: RecentDecision): void {
    this.#entries[this.#next] = bounded(entry);
    this.#next = (this.#next + 1) % this.#capacity;
    this.#totals[entry.kind]++;
  }

  /** A copy that later records do not change. */
  snapshot(): DecisionsSnapshot {
    const recent = [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)].reverse();
    return { recent, totals: { ...this.#totals } };
  }
}

function zeroes(): Record<DecisionKind, number> {
  return { place: 0, gate: 0, retry: 0, nowhere: 0, fallback: 0, release: 0, reduced: 0, ignore: 0, pass: 0 };
}

/** Copies the lists, so that the ring retains no list of its caller. */
function bounded(entry: RecentDecision): RecentDecision {
  return {
    ...entry,
    namespace: boundedName(entry.namespace),
    pod: boundedName(entry.pod),
    architectures: boundedNames(entry.architectures),
    images: entry.images.slice(0, MAX_SHOWN_IMAGES).map(({ image, architectures, failure }) => ({
      image: boundedText(image),
      architectures: boundedNames(architectures),
      failure: boundedText(failure),
    })),
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
