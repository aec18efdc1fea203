// `--arch-taints=manage`: keeps the taint on every node, and its toleration on pods. One key, one step at a time.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import type { ConfigPresence } from "../../lib/operator/decide/gating_health.ts";
import { openWriteSlots, type RateLimiter } from "../../lib/k8s/write_limits.ts";
import { type ApplyDeps, applyStep, openHolds } from "../../lib/taints/cluster/apply.ts";
import { openTaintWatches } from "../../lib/taints/cluster/watches.ts";
import { nextStep, phaseOf, type StepOptions, type TaintStep } from "../../lib/taints/decide/next_step.ts";
import type { ArchTaint } from "../../lib/vocabulary/taint.ts";
import { progressOf, type TaintProgress } from "../../lib/taints/decide/progress.ts";
import type { TaintMetrics } from "../../lib/taints/metrics.ts";
import {
  type ControllerDeps,
  type ControllerOptions,
  openController,
  requeueAfter,
  type Runnable,
} from "../controller.ts";
import { openTaintReports } from "./reports.ts";

interface TaintsDeps extends ControllerDeps {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly metrics: TaintMetrics;
  readonly rule: ArchTaint;
  readonly limiter: RateLimiter;
  readonly presence: () => ConfigPresence;
  readonly onPresence: (listener: () => void) => void;
}

export interface TaintsController extends Runnable {
  progress(): TaintProgress | undefined;
  /** The number of tainted nodes; undefined before the first list. */
  countTainted(): number | undefined;
}

const KEY = "cluster";
/** Interval of checks while waiting (ms); changes are handled at once. */
const WAIT_MS = 500;
/** Shortest interval of checks without writes (ms), however often users change their objects. */
const MINIMUM_GAP_MS = 100;
const RESYNC_MS = 30_000;

export function openTaints(deps: TaintsDeps): TaintsController {
  const { api, clock, log, rule, limiter } = deps;
  const [holds, writes, reports] = [openHolds(clock), openWriteSlots(), openTaintReports(deps)];
  const [goal, onWrite] = [makeGoal(deps), reportWrites(deps)];
  const wake = (): void => controller.enqueue(KEY);
  const watches = openTaintWatches({ api, clock, log, rule, onChange: wake });
  // Calls goal() to note the presence, because the config may be gone again before the next reconcile.
  deps.onPresence(() => goal() === undefined ? undefined : wake());
  let progress: TaintProgress | undefined;
  const controller = openController({
    ...deps,
    name: "taints",
    watches: [watches],
    parallel: 1,
    reconcile: withMinimumGap(clock, async (_key, signal) => {
      const survey = watches.survey();
      const wanted = goal();
      if (survey === undefined || wanted === undefined) return requeueAfter(WAIT_MS);
      const step = nextStep(survey, { goal: wanted, isHeld: holds.isHeld });
      const phase = phaseOf(step, wanted);
      progress = progressOf(survey, { step, phase, refusals: holds.refusals });
      await reports.report({ survey, progress }, signal);
      await applyStep({ api, limiter, holds, writes, onWrite }, step, signal);
      return afterStep(step);
    }),
  });
  const run = async (signal: AbortSignal): Promise<void> => {
    reports.begin();
    wake();
    await controller.run(signal);
    await writes.finished();
    progress = undefined;
  };
  const countTainted = (): number | undefined => watches.survey()?.nodes.filter(({ isTainted }) => isTainted).length;
  return { progress: () => progress, countTainted, run };
}

/** Removes taints once the config is being deleted. A replica that never saw a config leaves others' taints alone. */
function makeGoal({ presence }: TaintsDeps): () => StepOptions["goal"] | undefined {
  let isLifting = false;
  return () => {
    const now = presence();
    if (now === "present") isLifting = false;
    if (now === "deleting") isLifting = true;
    if (isLifting) return "lift";
    return now === "present" ? "taint" : undefined;
  };
}

/** Keeps a minimum gap after a reconcile without writes. Writes have their own limiter. */
function withMinimumGap(clock: Clock, reconcile: ControllerOptions["reconcile"]): ControllerOptions["reconcile"] {
  let nextMs = 0;
  return async (key, signal) => {
    const waitMs = nextMs - clock.monotonicMs();
    if (waitMs > 0) return requeueAfter(waitMs);
    const result = await reconcile(key, signal);
    if (result.kind === "requeue" && result.afterMs > 0) nextMs = clock.monotonicMs() + MINIMUM_GAP_MS;
    return result;
  };
}

function afterStep({ kind }: TaintStep): ReconcileResult {
  if (kind === "done") return requeueAfter(RESYNC_MS);
  return requeueAfter(kind === "wait" || kind === "paused" ? WAIT_MS : 0);
}

function reportWrites({ log, metrics }: TaintsDeps): ApplyDeps["onWrite"] {
  return (change, object, outcome) => {
    if (outcome.kind === "written") {
      metrics.archway_arch_taint_writes_total.inc({ change });
      log.debug("taints: written", { object, change });
    } else if (outcome.kind === "failed") log.warn("taints: write refused", { object, change, reason: outcome.why });
  };
}
