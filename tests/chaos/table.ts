// Runs the chaos table on one bed and reports its results.
import { renderTable } from "../../lib/cli/output.ts";
import { seededRandom } from "../support/random.ts";
import type { ChaosBed } from "./bed.ts";
import { drawArrivals, faultsOf, MAX_GATE_AGE_MS, renderPlan, type Row, type RowResult, runRow } from "./engine.ts";

/** A row that was run, what broke it, or what kept it from being run. */
export type Outcome =
  | { readonly kind: "ran"; readonly row: Row; readonly result: RowResult }
  | { readonly kind: "broke"; readonly row: Row; readonly why: string }
  | { readonly kind: "skipped"; readonly row: Row; readonly missing: string };

/** Runs a row by the plan that its seed gives, after printing that. Equal seeds give equal plans, alone or in a table. */
export async function runSeeded(
  bed: ChaosBed,
  row: Row,
  { seed, print }: { readonly seed: number; readonly print: (line: string) => void },
): Promise<Outcome> {
  const missing = row.missing?.(bed);
  if (missing !== undefined) return { kind: "skipped", row, missing };
  const arrivals = drawArrivals(row, seededRandom(seed + hash(`${row.area} ${row.fault}`)));
  print(`seed ${seed}  ${renderPlan(row, arrivals)}`);
  try {
    const result = await runRow(bed, row, arrivals);
    print(`        ${JSON.stringify(result)}`);
    return { kind: "ran", row, result };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    print(`        broke: ${why}`);
    return { kind: "broke", row, why };
  }
}

function hash(text: string): number {
  return [...text].reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7);
}

/** What an outcome must not be, as sentences; see {@link faultsOf}. */
export function problemsOf(outcome: Outcome, slackMs: number): readonly string[] {
  switch (outcome.kind) {
    case "ran":
      return faultsOf(outcome.row, outcome.result, slackMs);
    case "broke":
      return [outcome.why];
    case "skipped":
      return [];
  }
}

const TITLES = [
  ...["Area", "Fault", "Felt as"],
  ...["Pods", "Stuck", "Misplaced", "Given up", "Missed", "Worst gate age", "Recovery"],
];

function cellsOf(outcome: Outcome): readonly string[] {
  const { area, fault } = outcome.row;
  if (outcome.kind !== "ran") {
    const felt = outcome.kind === "broke" ? "broke" : `skipped: needs ${outcome.missing}`;
    return TITLES.map((_, column) => [area, fault, felt][column] ?? "");
  }
  const { felt, pods, fates, worstGateMs, recoveryMs } = outcome.result;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const counts = [pods, fates.stuck, fates.misplaced, fates["given up"], fates.missed].map(String);
  return [area, fault, felt, ...counts, seconds(worstGateMs), seconds(recoveryMs)];
}

export function renderOutcomes(outcomes: readonly Outcome[]): string {
  return renderTable(TITLES.map((title) => title.toUpperCase()), outcomes.map(cellsOf));
}

export function renderResults(
  outcomes: readonly Outcome[],
  { seed, machine }: { readonly seed: number; readonly machine: string },
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const notes = outcomes.flatMap(({ row: { area, fault, mayMiss } }) =>
    mayMiss === undefined ? [] : [`- ${area}, ${fault}: ${mayMiss}.`]
  );
  return [
    "# Chaos table",
    "",
    `Written by \`deno task chaos --seed ${seed}\`. ${machine}`,
    "",
    "Two replicas on a real control plane; every pod was looked at. Must hold: 0 stuck, 0 misplaced, no gate older than " +
    `${MAX_GATE_AGE_MS / 1_000} s (counted from when the API server and one replica are up), recovery within 10 s of ` +
    "the end of the fault. Given up: released with a Warning that names why.",
    "Recovery counts from the end of the fault, with the API server up and a leader there.",
    "",
    line(TITLES),
    line(TITLES.map((_, column) => (column < 3 ? "---" : "---:"))),
    ...outcomes.map((outcome) => line(cellsOf(outcome))),
    "",
    "Missed pods were admitted by the API server without the webhook (`failurePolicy: Ignore`), and can only be where the",
    "fault is that the webhook does not answer:",
    "",
    ...notes,
    "",
  ].join("\n");
}
