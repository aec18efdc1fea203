// Which rows a test says it proves, by its name.

export interface Claim {
  readonly ids: readonly string[];
  /** Why the product deliberately does something else, from `(different: …)`. */
  readonly different: string | undefined;
}

const PREFIXED = /^([A-Z]+\d*)-(\d+)(?:(?:\.\.|…)(?:\1-)?(\d+))?$/;
const NUMBER = /^(\d{1,3})(?:-(\d{1,3}))?$/;

function expand(from: string, to: string | undefined, render: (number: number) => string): readonly string[] {
  const last = Number(to ?? from);
  return Array.from({ length: Math.max(0, last - Number(from) + 1) }, (_, step) => render(Number(from) + step));
}

/** The ids that one word stands for, or undefined when it is an ordinary word. */
function idsOf(word: string): readonly string[] | undefined {
  const bare = word.replace(/[,:]$/, "");
  const [, prefix, from, to] = PREFIXED.exec(bare) ?? [];
  if (prefix !== undefined && from !== undefined) {
    return expand(from, to, (number) => `${prefix}-${String(number).padStart(from.length, "0")}`);
  }
  const [, first, last] = NUMBER.exec(bare) ?? [];
  return first === undefined ? undefined : expand(first, last, String);
}

function leadingIds(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => idsOf(word) === undefined);
  return words.slice(0, end < 0 ? words.length : end).flatMap((word) => idsOf(word) ?? []);
}

/**
 * Reads `PR-17 PR-18 decide() …`, `RF-01..05 …`, `136 211 PC-07 refuses …`, a list behind the word `rows`, and ids in
 * brackets at the end: `… in any order (P-133 P-134)`.
 */
export function parseClaim(name: string): Claim {
  const [, list = ""] = /\brows ([\d, -]+)$/.exec(name) ?? [];
  const [, closing = ""] = /\(((?:[A-Z]+\d*-\d+ ?)+)\)$/.exec(name) ?? [];
  const ids = [name, list, closing].flatMap((text) => leadingIds(text.split(/\s+/)));
  const [, different] = /\(different: ([^)]+)\)/.exec(name) ?? [];
  return { ids: [...new Set(ids)], different };
}
