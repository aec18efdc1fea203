// Several versions of a text in one: each line with the features that have it, or lack it. Pure.

export interface Variant {
  /** An expression of the template language. */
  readonly condition: string;
  readonly lines: readonly string[];
}

/** A run of lines under one condition; `undefined` is always. */
export interface ConditionalLines {
  readonly condition: string | undefined;
  readonly lines: readonly string[];
}

/** How a variant differs from the base: lines that it lacks, by index, and lines that it inserts before an index. */
interface Difference {
  readonly condition: string;
  readonly lacks: ReadonlySet<number>;
  readonly insertions: ReadonlyMap<number, readonly string[]>;
}

/**
 * Merges variants into the base. With one true condition the result is its variant; with several it has all of their
 * changes.
 */
export function mergeLines(base: readonly string[], variants: readonly Variant[]): readonly ConditionalLines[] {
  const differences = variants.map((variant) => findDifference(base, variant));
  const runs: ConditionalLines[] = [];
  for (let index = 0; index <= base.length; index++) {
    for (const { condition, insertions } of differences) {
      const lines = insertions.get(index);
      if (lines !== undefined) runs.push({ condition, lines });
    }
    const line = base[index];
    if (line === undefined) continue;
    const lacking = differences.filter(({ lacks }) => lacks.has(index)).map(({ condition }) => condition);
    runs.push({ condition: lacking.length === 0 ? undefined : negate(anyOf(lacking)), lines: [line] });
  }
  return joinRuns(runs);
}

export function anyOf(conditions: readonly string[]): string {
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined ? only : `or ${conditions.map(bracket).join(" ")}`;
}

export function negate(condition: string): string {
  return `not ${bracket(condition)}`;
}

function bracket(condition: string): string {
  return condition.includes(" ") ? `(${condition})` : condition;
}

function joinRuns(runs: readonly ConditionalLines[]): readonly ConditionalLines[] {
  const joined: ConditionalLines[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (last !== undefined && last.condition === run.condition) {
      joined[joined.length - 1] = { condition: last.condition, lines: [...last.lines, ...run.lines] };
    } else joined.push(run);
  }
  return joined;
}

function findDifference(base: readonly string[], { condition, lines }: Variant): Difference {
  const shared = commonLengths(base, lines);
  const lengthAt = (i: number, j: number): number => shared[i]?.[j] ?? 0;
  const lacks = new Set<number>();
  const insertions = new Map<number, readonly string[]>();
  let i = 0;
  let j = 0;
  while (i < base.length || j < lines.length) {
    const line = lines[j];
    if (i < base.length && line !== undefined && base[i] === line) {
      i++;
      j++;
    } else if (line !== undefined && (i >= base.length || lengthAt(i, j + 1) > lengthAt(i + 1, j))) {
      insertions.set(i, [...insertions.get(i) ?? [], line]);
      j++;
    } else lacks.add(i++);
  }
  return { condition, lacks, insertions };
}

/** [i][j]: length of the longest common subsequence of `a` from `i` on and `b` from `j` on. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const table: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] = a[i] === b[j] ? 1 + (table[i + 1]?.[j + 1] ?? 0) : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}
