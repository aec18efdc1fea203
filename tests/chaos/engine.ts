// One row of the chaos table, carried out: bed → load → fault → recover → verify → row.
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { type ChaosBed, reviveReplicas } from "./bed.ts";
import type { Fates } from "./fate.ts";
import { RowPods } from "./row_pods.ts";

/** Ends the fault, and says in a few words what its effect was. Throws when it had none. */
export type Heal = () => Promise<string>;

export interface Row {
  readonly area: "registry" | "API server" | "etcd" | "KV" | "clock" | "replicas";
  readonly fault: string;
  /** Pods that the registry keeps waiting, by answering 503, while the fault is there. */
  readonly waiting: number;
  /** Pods that are created while the fault is there, at drawn times. */
  readonly arriving: number;
  /** All of them within so many milliseconds; default as long as the fault is there. */
  readonly arriveWithinMs?: number;
  readonly hasOwnImages?: boolean;
  readonly forMs: number;
  /** Brings the fault about. The recovery counts from when the healing has ended. */
  readonly begin: (bed: ChaosBed) => Promise<Heal>;
  /** Why the webhook may miss pods: it is the fault itself that it does not answer. */
  readonly mayMiss?: string;
  /** How long no replica can lift a gate (ms), beyond what the row itself takes. */
  readonly absentMs?: number;
  readonly missing?: (bed: ChaosBed) => string | undefined;
}

export interface RowResult {
  readonly area: string;
  readonly fault: string;
  readonly felt: string;
  readonly pods: number;
  readonly fates: Fates;
  readonly wrong: readonly string[];
  readonly worstGateMs: number;
  /** From the end of the healing until the last pod was on a node (ms). */
  readonly recoveryMs: number;
}

export const MAX_GATE_AGE_MS = 60_000;
/** Longest wait for a row to settle (ms): every pod must be free by then, whatever happened. */
const SETTLE_MS = MAX_GATE_AGE_MS + 30_000;

/** Times of the arrivals, drawn: ms since the beginning of the fault, ascending. */
export function drawArrivals(row: Row, random: () => number): readonly number[] {
  const { arriving, forMs, arriveWithinMs = forMs } = row;
  return Array.from({ length: arriving }, () => Math.round(random() * arriveWithinMs)).sort((a, b) => a - b);
}

export function renderPlan(row: Row, arrivals: readonly number[]): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  const arriving = arrivals.length === 0 ? "none arrive" : `arrivals at ${arrivals.map(seconds).join(" ")} s`;
  return `${row.area}: ${row.fault}, for ${seconds(row.forMs)} s; ${row.waiting} wait, ${arriving}`;
}

/** Carries the row out, beginning with two replicas that gate. What it left dead is started again by the next row. */
export async function runRow(bed: ChaosBed, row: Row, arrivals: readonly number[]): Promise<RowResult> {
  await reviveReplicas(bed);
  const name = `chaos-${row.area.replaceAll(" ", "-").toLowerCase()}`;
  await using pods = await RowPods.open(bed, { name, areImagesShared: row.hasOwnImages !== true });
  if (row.waiting > 0) await holdPods(bed, pods, row.waiting);
  const { felt, healedMs } = await endure(bed, row, { pods, arrivals });
  await waitUntil("the pods to be placed", () => pods.areAllPlaced(), { deadlineMs: SETTLE_MS }).catch(() => {});
  const worstGateMs = pods.worstGateMs();
  const recoveryMs = pods.lastPlacedAfterMs(healedMs);
  const { fates, wrong } = await pods.judge(bed.nodes);
  const { area, fault } = row;
  return { area, fault, felt, pods: pods.created, fates, wrong, worstGateMs, recoveryMs };
}

async function holdPods(bed: ChaosBed, pods: RowPods, count: number): Promise<void> {
  bed.proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  for (let number = 0; number < count; number++) await pods.create();
  await waitUntil("the pods to be gated", () => pods.areAllGated());
}

/** The fault from its beginning to its end, whatever throws meanwhile. Gives when (monotonic ms) it had ended. */
async function endure(
  bed: ChaosBed,
  row: Row,
  { pods, arrivals }: { readonly pods: RowPods; readonly arrivals: readonly number[] },
): Promise<{ readonly felt: string; readonly healedMs: number }> {
  const creations: Promise<void>[] = [];
  let felt = "";
  try {
    const heal = await row.begin(bed);
    const begunMs = performance.now();
    creations.push(...arrivals.map((atMs) => pause(atMs).then(() => pods.create())));
    await pause(Math.max(0, begunMs + row.forMs - performance.now()));
    felt = await heal();
  } finally {
    bed.proxy.setFaults([]);
    bed.apiProxy.intercept(undefined);
  }
  const healedMs = performance.now();
  await Promise.all(creations);
  return { felt, healedMs };
}

/** What a row must not have come to, as sentences; empty when all is well. `slackMs` is what a slow machine may add. */
export function faultsOf(row: Row, result: RowResult, slackMs: number): readonly string[] {
  const { fates, worstGateMs, recoveryMs, wrong } = result;
  const mostGateMs = MAX_GATE_AGE_MS + (row.absentMs ?? 0) + slackMs;
  const mostRecoveryMs = 10_000 + slackMs;
  const told = wrong.slice(0, 3).join("; ");
  const rules: readonly (readonly [string, boolean])[] = [
    [`${fates.stuck} stuck, ${fates.misplaced} misplaced: ${told}`, fates.stuck + fates.misplaced > 0],
    [`${fates.missed} missed by the webhook: ${told}`, fates.missed > 0 && row.mayMiss === undefined],
    [`held for ${worstGateMs} ms, more than ${mostGateMs}`, worstGateMs > mostGateMs],
    [`recovered in ${recoveryMs} ms, more than ${mostRecoveryMs}`, recoveryMs > mostRecoveryMs],
  ];
  return rules.filter(([, holds]) => holds).map(([sentence]) => sentence);
}
