// What the checks came to, as a table or as JSON. Pure.
import { renderTable } from "../../lib/cli/output.ts";

export interface CheckOutcome {
  readonly check: string;
  readonly result: "passed" | "failed" | "skipped";
  /** What was seen, and after a failure what to do. */
  readonly detail: string;
}

export type Seen = Omit<CheckOutcome, "check">;

export function passed(detail: string): Seen {
  return { result: "passed", detail };
}

export function failed(detail: string): Seen {
  return { result: "failed", detail };
}

/** `columns`: of the terminal, where the output is one. */
export function renderOutcomes(outcomes: readonly CheckOutcome[], output: "table" | "json", columns?: number): string {
  if (output === "json") return `${JSON.stringify(outcomes, undefined, 2)}\n`;
  const rows = outcomes.map(({ check, result, detail }) => [check, result, detail]);
  const count = (result: CheckOutcome["result"]): number => outcomes.filter((one) => one.result === result).length;
  const counts = `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`;
  return `${renderTable(["CHECK", "RESULT", "WHAT WAS SEEN"], rows, columns)}${counts}\n`;
}
