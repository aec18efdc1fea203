import assert from "node:assert/strict";
import type { TaintPhase } from "../../../../lib/taints/decide/next_step.ts";
import { decideReport, NOTHING_REPORTED } from "../../../../lib/taints/decide/progress.ts";

/** What is reported of phases seen at these seconds: `E` an event, `C` a condition, by the second. */
function reported(seen: readonly (readonly [second: number, phase: TaintPhase, message?: string])[]): string {
  let memory = NOTHING_REPORTED;
  return seen.flatMap(([second, phase, message = phase]) => {
    const due = decideReport(memory, { phase, message, nowMs: second * 1_000 });
    memory = due.memory;
    return due.event || due.condition ? [`${second}${due.event ? "E" : ""}${due.condition ? "C" : ""}`] : [];
  }).join(" ");
}

const ROWS: readonly (readonly [name: string, seen: Parameters<typeof reported>[0], ends: string])[] = [
  ["a phase of a moment is not told", [[0, "Tolerating"], [1, "Waiting"], [2, "Tainting"], [4, "Done"]], "4EC"],
  ["a phase that lasts is told once", [[0, "Tainting"], [3, "Tainting"], [5, "Tainting"]], "3EC"],
  ["done is told at once, and once", [[0, "Done"], [1, "Done"], [30, "Done"]], "0EC"],
  ["paused is told at once", [[0, "Tainting"], [1, "Paused"]], "1EC"],
  ["numbers are told every ten seconds", [
    [0, "Tainting", "1"],
    [3, "Tainting", "2"],
    [8, "Tainting", "3"],
    [13, "Tainting", "4"],
    [14, "Tainting", "5"],
  ], "3EC 13C"],
  ["a pause within a phase does not tell the phase anew", [[0, "Done"], [1, "Tainting"], [2, "Done"]], "0EC"],
];

for (const [name, seen, ends] of ROWS) {
  Deno.test(`decideReport(): ${name}`, () => assert.equal(reported(seen), ends));
}
