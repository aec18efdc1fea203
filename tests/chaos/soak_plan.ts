// What is done to the replicas during a soak, and when: drawn from a seed before it begins, so that it can be done again. Pure.
import type { Fault } from "../cluster/support/fault_plan.ts";

export type Disturbance =
  | { readonly kind: "registry fault"; readonly fault: Fault; readonly fraction: number; readonly forMs: number }
  | { readonly kind: "certificate rotation"; readonly replica: 0 | 1 }
  | { readonly kind: "config change"; readonly change: "scoring on" | "scoring off" | "namespace config on" | "off" }
  | { readonly kind: "replica restart"; readonly replica: 0 | 1 };

export type Step = Disturbance & { readonly atMs: number };

const FAULTS: readonly { readonly fault: Fault; readonly fraction: number }[] = [
  { fault: { kind: "status", status: 500 }, fraction: 1 },
  { fault: { kind: "status", status: 429, retryAfterSeconds: 1 }, fraction: 0.3 },
  { fault: { kind: "reset" }, fraction: 1 },
  { fault: { kind: "blackHole" }, fraction: 0.5 },
  { fault: { kind: "latency", ms: 800 }, fraction: 1 },
  { fault: { kind: "truncateBody" }, fraction: 0.5 },
];

const CHANGES = ["scoring on", "namespace config on", "scoring off", "off"] as const;

/** Between two disturbances (ms), before jitter. */
const PACE_MS = 9_000;
/** The end is left quiet, so that every pod has time to settle. */
const QUIET_END_MS = 20_000;

/**
 * Draws the plan. `random` gives numbers in [0, 1). Replicas are restarted in the first half only: the second half is one
 * life of each, long enough to see growth.
 */
export function planSoak(durationMs: number, random: () => number): readonly Step[] {
  const steps: Step[] = [];
  for (let atMs = 5_000, turn = 0; atMs < durationMs - QUIET_END_MS; atMs += PACE_MS * (0.7 + 0.6 * random()), turn++) {
    const mayRestart = atMs < durationMs / 2 - QUIET_END_MS;
    steps.push({ ...draw(turn, { random, mayRestart }), atMs: Math.round(atMs) });
  }
  return steps;
}

/** The kinds take turns, so that a short soak has them all; what exactly is drawn. */
function draw(
  turn: number,
  { random, mayRestart }: { readonly random: () => number; readonly mayRestart: boolean },
): Disturbance {
  const replica = random() < 0.5 ? 0 : 1;
  const chosen = FAULTS[Math.floor(random() * FAULTS.length)];
  const change = CHANGES[Math.floor(turn / 4) % CHANGES.length] ?? "off";
  if (turn % 4 === 0 && mayRestart) return { kind: "replica restart", replica };
  if (turn % 4 === 1) return { kind: "certificate rotation", replica };
  if (turn % 4 === 2) return { kind: "config change", change };
  const { fault, fraction } = chosen ?? { fault: { kind: "reset" }, fraction: 1 };
  return { kind: "registry fault", fault, fraction, forMs: Math.round(2_000 + 3_000 * random()) };
}

export function renderStep({ atMs, ...step }: Step): string {
  const { kind, ...rest } = step;
  return `${(atMs / 1_000).toFixed(1).padStart(7)} s  ${kind} ${JSON.stringify(rest)}`;
}
