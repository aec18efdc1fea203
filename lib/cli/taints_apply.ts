// `archway taints apply`: watches the cluster and taints nodes until all carry their taint, or nothing can be written.
import { silentLogger } from "../log.ts";
import { openRateLimiter, openWriteSlots, type WriteSlots } from "../k8s/write_limits.ts";
import { type ApplyDeps, applyStep, type Holds, openHolds } from "../taints/cluster/apply.ts";
import { openTaintWatches, type TaintWatches } from "../taints/cluster/watches.ts";
import { nextStep, phaseOf } from "../taints/decide/next_step.ts";
import type { ArchTaint } from "../vocabulary/taint.ts";
import { progressOf } from "../taints/decide/progress.ts";
import type { ReportDeps } from "./report.ts";

export interface AppliedTaints {
  /** `stuck`: nothing could be written any more; the message says what is waited for. */
  readonly end: "done" | "stuck";
  readonly toleratedPods: number;
  readonly taintedNodes: number;
  readonly message: string;
}

export type TaintsApplyDeps = Pick<ReportDeps, "api" | "terminal" | "clock" | "signal">;

const CHECK_MS = 100;
/** Time (ms) without a write after which the command is stuck: longer than an object is held after a refused write. */
const STUCK_MS = 20_000;

/** Progress goes to standard error, a line for each phase. Throws when the signal aborts. */
export async function applyTaints(deps: TaintsApplyDeps, rule: ArchTaint): Promise<AppliedTaints> {
  const { api, clock, signal } = deps;
  const stop = new AbortController();
  const watches = openTaintWatches({ api, clock, log: silentLogger, rule, onChange: () => {} });
  const writes = openWriteSlots();
  const watching = watches.run(AbortSignal.any([signal, stop.signal]));
  try {
    return await followSteps(deps, { watches, holds: openHolds(clock), writes });
  } finally {
    await writes.finished();
    stop.abort();
    await watching;
  }
}

interface Following {
  readonly writes: WriteSlots;
  readonly watches: TaintWatches;
  readonly holds: Holds;
}

async function followSteps(
  deps: TaintsApplyDeps,
  { watches, holds, writes }: Following,
): Promise<AppliedTaints> {
  const { api, clock, terminal, signal } = deps;
  const written = { tolerate: 0, taint: 0, untaint: 0 };
  let lastWriteMs = clock.monotonicMs();
  const onWrite: ApplyDeps["onWrite"] = (change, _key, { kind }) => {
    if (kind !== "written") return;
    written[change]++;
    lastWriteMs = clock.monotonicMs();
  };
  const applying = { api, limiter: openRateLimiter(clock), holds, writes, onWrite };
  let said = "";
  for (;;) {
    signal.throwIfAborted();
    const isStuck = clock.monotonicMs() - lastWriteMs >= STUCK_MS;
    const survey = watches.survey();
    if (survey === undefined && isStuck) throw new Error("Cannot list nodes, pods and DaemonSets: see the rights.");
    const step = survey && nextStep(survey, { goal: "taint", isHeld: holds.isHeld });
    if (survey === undefined || step === undefined) {
      await clock.sleep(CHECK_MS, signal);
      continue;
    }
    const phase = phaseOf(step, "taint");
    const { message } = progressOf(survey, { step, phase, refusals: holds.refusals });
    const totals = { toleratedPods: written.tolerate, taintedNodes: written.taint, message };
    if (step.kind === "done") return { end: "done", ...totals };
    const isIdle = step.kind === "wait" || step.kind === "paused";
    if (isIdle && isStuck) return { end: "stuck", ...totals };
    if (phase !== said && phase !== "Waiting") terminal.err(`archway: ${message}\n`);
    said = phase;
    await (isIdle ? clock.sleep(CHECK_MS, signal) : applyStep(applying, step, signal));
  }
}
