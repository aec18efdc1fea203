// What is printed of an upgrade as it goes on: a line for each step that begins to wait, waits for something else, or ends.
import type { PlanProgress } from "../../lib/upgrades/decide/progress.ts";

/** Which lines a state of a plan adds, given what the states before it have added. */
export class ProgressLines {
  readonly #said = new Map<string, string>();

  /** In the order of the steps; each ends with a newline. */
  linesOf({ phase, steps }: PlanProgress, elapsedMs: number): readonly string[] {
    const rows = [["Phase", phase, ""], ...steps.map(({ id, state, message }) => [id, state, message])];
    return rows.flatMap(([name = "", state = "", message = ""]) => {
      const text = `${state.padEnd(9)} ${message}`.trimEnd();
      if (state === "open" || this.#said.get(name) === text) return [];
      this.#said.set(name, text);
      return [`${`${(elapsedMs / 1_000).toFixed(1)}s`.padStart(6)}  ${name.padEnd(36)} ${text}\n`];
    });
  }
}
