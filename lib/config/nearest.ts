// The word that someone may have meant who typed another one. Pure.

/** More changes of a letter than these make another word. */
const MOST_CHANGES = 2;

/** The known word that differs by two letters at most, and by half of what was typed; undefined when none is that near. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const near = known.map((word) => ({ word, changes: changesBetween(typed, word) }))
    .filter(({ changes }) => changes <= MOST_CHANGES && changes * 2 <= typed.length);
  return near.toSorted((one, other) => one.changes - other.changes)[0]?.word;
}

/** Letters to insert, remove or replace (Levenshtein), row by row of the table of all prefixes. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [y, letter] of [...one].entries()) {
    const next = [y + 1];
    for (let x = 0; x < other.length; x++) {
      const [replaced = 0, removed = 0] = row.slice(x, x + 2);
      next.push(Math.min(replaced + (letter === other[x] ? 0 : 1), removed + 1, (next[x] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
