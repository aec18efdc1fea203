// What is compared with an original: questions that a seed draws, our answers, and which part of the original's answers they
// are held against.
import { createHash } from "node:crypto";
import { canonical } from "../../lib/builds/decide/plan/build_keys.ts";
import { seededRandom } from "../support/random.ts";

/** A repository of an original, as `programs/` and the folder of copies name it. */
export type Original =
  | "cluster-version-operator"
  | "machine-config-operator"
  | "managed-upgrade-operator"
  | "multiarch-tuning-operator";

export interface Subject<Given = unknown> {
  readonly name: string;
  readonly original: Original;
  readonly ask: string;
  readonly count: number;
  /** Answers that are recorded as they are; of all others the record has one hash. */
  readonly kept: number;
  draw(draw: Draw): Given;
  /** Ours, or the promise of it; a reader of what the original writes also has the original's answer. */
  ours(given: Given, theirs: unknown): unknown;
  /** The part of the original's answer that ours is to be; absent: all of it. */
  compared?(theirs: unknown, given: Given): unknown;
}

/** Draws values; the same seed draws the same ones. */
export class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }

  /** As many as `count` says, each drawn anew. */
  many<T>(count: number, make: (at: number) => T): readonly T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }

  text(letters: string, length: number): string {
    const all = [...letters];
    return this.many(length, () => all[this.below(all.length)]).join("");
  }
}

const SEED = 26;

export function questionsOf<Given>({ count, draw }: Subject<Given>): readonly Given[] {
  const source = new Draw(SEED);
  return source.many(count, () => draw(source));
}

/** Of any values, in an order of members that does not matter. */
export function hashOf(values: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const value of values) hash.update(`${canonical(value)}\n`);
  return hash.digest("hex");
}

/** Without what JSON does not have, such as members that are undefined. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
