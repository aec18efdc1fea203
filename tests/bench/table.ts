// The rows of `deno task bench:cluster`: a measure, what it is compared with, its target, and whether that was met. Pure.
import { renderTable } from "../../lib/cli/output.ts";
import { assertNever } from "../../lib/parsed.ts";
import { median } from "./statistics.ts";

/** What a measure should be. Source: the targets B1–B8 of the benchmark protocol. */
export type Target =
  | { readonly kind: "atMost"; readonly limit: number }
  | { readonly kind: "exactly"; readonly value: number }
  | { readonly kind: "atMostTimesBaseline"; readonly factor: number }
  | { readonly kind: "atLeastTimesBaseline"; readonly factor: number }
  | { readonly kind: "none" };

export interface Row {
  /** Begins with the target's name: `B2 …`; ends with the unit. */
  readonly measure: string;
  readonly archway: number;
  /** Of the rounds, where there were several; `archway` is their median. */
  readonly spread?: { readonly least: number; readonly most: number };
  /** The floor, or the same without Archway, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly value: number };
  readonly target: Target;
  /** The same of the Multiarch Tuning Operator, where `--mto` gave it. */
  readonly reference?: number;
}

/** What should be at most so much. */
export function atMost(limit: number): Target {
  return { kind: "atMost", limit };
}

export const NO_TARGET: Target = { kind: "none" };
/** What should never happen. */
export const NEVER: Target = { kind: "exactly", value: 0 };

export function rowOf(measure: string, archway: number, target: Target): Row {
  return { measure, archway, target };
}

export function isMet({ archway, baseline, target }: Row): boolean | undefined {
  switch (target.kind) {
    case "atMost":
      return archway <= target.limit;
    case "exactly":
      return archway === target.value;
    case "atMostTimesBaseline":
      return archway <= target.factor * (baseline?.value ?? NaN);
    case "atLeastTimesBaseline":
      return archway >= target.factor * (baseline?.value ?? NaN);
    case "none":
      return undefined;
    default:
      return assertNever(target);
  }
}

/** The rows of several rounds as one: medians of what was measured, and its spread. Every round has the same rows. */
export function combineRounds(rounds: readonly (readonly Row[])[]): readonly Row[] {
  const [first = [], ...others] = rounds;
  if (others.length === 0) return first;
  return first.map((row, at) => {
    const all = rounds.flatMap((rows) => rows[at] ?? []);
    const values = all.map(({ archway }) => archway);
    const middle = (read: (row: Row) => number | undefined): number => median(all.flatMap((each) => read(each) ?? []));
    return {
      ...row,
      archway: median(values),
      spread: { least: Math.min(...values), most: Math.max(...values) },
      ...row.baseline && { baseline: { ...row.baseline, value: middle(({ baseline }) => baseline?.value) } },
      ...row.reference !== undefined && { reference: middle(({ reference }) => reference) },
    };
  });
}

/** The table; a column appears when a row has something for it. */
export function renderRows(rows: readonly Row[]): string {
  const columns: readonly (readonly [title: string, cell: (row: Row) => string])[] = [
    ["MEASURE", ({ measure }) => measure],
    ["ARCHWAY", ({ archway }) => formatNumber(archway)],
    ["LEAST – MOST", ({ spread }) => spread === undefined ? "" : describeSpread(spread)],
    ["BASELINE", ({ baseline }) => baseline === undefined ? "-" : `${formatNumber(baseline.value)} ${baseline.name}`],
    ["RATIO", ({ archway, baseline }) => baseline === undefined ? "-" : (archway / baseline.value).toFixed(2)],
    ["TARGET", ({ target }) => describeTarget(target)],
    ["MET", (row) => ({ true: "yes", false: "no", undefined: "-" })[`${isMet(row)}`]],
    ["MTO", ({ reference }) => reference === undefined ? "" : formatNumber(reference)],
  ];
  const shown = columns.filter(([, cell]) => rows.some((row) => cell(row) !== ""));
  return renderTable(shown.map(([title]) => title), rows.map((row) => shown.map(([, cell]) => cell(row))));
}

/** As a reader writes it: `≤ 2`. */
export function describeTarget(target: Target): string {
  switch (target.kind) {
    case "atMost":
      return `≤ ${target.limit}`;
    case "exactly":
      return `${target.value}`;
    case "atMostTimesBaseline":
      return `≤ ${target.factor} ×`;
    case "atLeastTimesBaseline":
      return `≥ ${target.factor} ×`;
    case "none":
      return "-";
    default:
      return assertNever(target);
  }
}

export function describeSpread({ least, most }: NonNullable<Row["spread"]>): string {
  return `${formatNumber(least)} – ${formatNumber(most)}`;
}

export function formatNumber(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}
