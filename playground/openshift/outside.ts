// What is around an upgrade of the sample cluster: a fast clock, an Alertmanager for silences, a registry, lines of
// progress.
import type { Silence } from "../../lib/upgrades/decide/types/cluster.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";
import type { Outside } from "../../lib/upgrades/outside/outside.ts";
import { PAYLOAD, RELEASE } from "./objects.ts";
import type { Clock } from "../../lib/clock.ts";
import type { PlanProgress } from "../../lib/upgrades/decide/progress.ts";

export function openSampleOutside(): Outside {
  const silences = new Map<string, Silence>();
  const payload = { image: PAYLOAD, version: RELEASE, isIndex: true, architectures: ["amd64", "arm64"] };
  return {
    readers: () => ({
      silences: () => Promise.resolve([...silences.values()]),
      health: () => Promise.resolve([]),
      healthAfter: () => Promise.resolve([]),
      dependencies: () => Promise.resolve([]),
      graph: () => Promise.resolve([]),
      payload: () => Promise.resolve(payload),
      policy: () => Promise.resolve({ kind: "notConfigured" }),
      alertsDuring: () => Promise.resolve([]),
    }),
    createSilence: ({ comment, endsAtMs }) => {
      const id = `silence-${silences.size + 1}`;
      silences.set(id, { id, createdBy: Upgrades.eventSource, comment, state: "active", endsAtMs });
      return Promise.resolve();
    },
    endSilence: (id) => {
      silences.delete(id);
      return Promise.resolve();
    },
    notify: () => Promise.resolve(),
  };
}

/** A clock on which `speed` seconds pass in one of `clock`. It begins at the time of `clock`. */
export function openFastClock(clock: Clock, speed: number): Clock {
  const [startMs, startMonotonicMs] = [clock.nowMs(), clock.monotonicMs()];
  const passedMs = (): number => (clock.monotonicMs() - startMonotonicMs) * speed;
  return {
    nowMs: () => startMs + passedMs(),
    monotonicMs: passedMs,
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}

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
