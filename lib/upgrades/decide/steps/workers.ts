// The steps around the nodes that are not the control plane: window, completion, temporary workers, window.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import { notificationEffects } from "../notifications/notify.ts";
import { isStepDone } from "../status_changes.ts";
import { MINUTE_MS, parseTime } from "../../../vocabulary/time.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { NewPlanCondition } from "../types/plan.ts";
import type { Step, StepResult, StepWords } from "../types/steps.ts";
import { assertNever } from "../../../parsed.ts";
import { describeTrouble, summarizePools } from "../pools.ts";
import { endSilenceEffects, isAnySilenceActive, workerSilenceEffects } from "../silences.ts";
import { done, fail, once, SILENCE_STEP_WORDS, skipWhen, versionLabel, wait, withReading } from "./results.ts";

export const WORKERS: StepWords = {
  id: "WorkerNodesUpgraded",
  stage: "Workers",
  title: "Wait for all workers",
  waitsFor: "every pool that is not paused says `Updated`. Migration: with another operating system image",
  remedy:
    "its message names degraded pools and nodes that are not Ready; `oc get mcp,nodes`: a node that is not drained; ArchwayUpgradeWorkersSlow, ArchwayUpgradeNodeDrainSlow",
};

export const OPEN_WORKER_WINDOW: Step = skipWhen(({ entry }) => isStepDone(entry, WORKERS.id), {
  ...SILENCE_STEP_WORDS,
  id: "WorkersMaintenanceWindowCreated",
  stage: "Workers",
  title: "Silence the workers' alerts",
  reads: () => ["pools", "silences"],
  decide: (observed, nowMs) =>
    withReading(observed, "pools", (pools) => {
      const { machines, updatedMachines } = summarizePools(pools);
      const remaining = machines - updatedMachines;
      if (remaining < 1) return done();
      return withReading(observed, "silences", (silences) => {
        const endsAtMs = nowMs + remaining * minutesANode(observed) * MINUTE_MS;
        const { version, workerStartTime } = observed.entry;
        const workerStartMs = parseTime(workerStartTime);
        return done(workerSilenceEffects({ version, remaining, endsAtMs, workerStartMs }, silences));
      });
    }),
});

export const AWAIT_WORKERS: Step = once({
  ...WORKERS,
  reads: () => ["pools", "silences", "notReadyNodes"],
  decide: (observed) =>
    withReading(observed, "pools", (pools) => {
      const { updating, isDone, machines, updatedMachines } = summarizePools(pools);
      const remaining = machines - updatedMachines;
      const names = updating.map(({ name }) => name).join(", ");
      const message = remaining > 0 ? `${remaining} nodes are left` : `not Updated: MachineConfigPools ${names}`;
      return isDone ? nodesFinished(observed, pools) : waitForNodes(observed, { message, pools });
    }),
});

/** Removes temporary workers, even where the plan wants none any more; such a plan goes on if they cannot be read. */
export const RELEASE_CAPACITY: Step = once({
  id: "ComputeCapacityRemoved",
  stage: "Workers",
  title: "Remove the added machine",
  waitsFor: "the temporary workers are drained and gone, also where the plan does without them since",
  remedy: "as for `WorkerNodesUpgraded`",
  isSkipped: ({ capacity }) => !capacity.enabled,
  reads: () => ["capacityLeft"],
  decide: (observed) => {
    if (!observed.plan.spec.capacity.enabled && observed.read.capacityLeft?.kind !== "observed") return done();
    return withReading(observed, "capacityLeft", (left): StepResult => {
      const release: Effect = { kind: "releaseCapacity", drain: "help" };
      switch (left.kind) {
        case "none":
          return done([{ kind: "clearMetric", metric: "upgradeoperator_node_drain_timeout" }]);
        case "present":
          return wait(left.message, [release]);
        case "drainTimedOut":
          return fail(left.message, [drainTimeout(left.node), release]);
        default:
          return assertNever(left);
      }
    });
  },
});

export const CLOSE_WORKER_WINDOW: Step = once({
  ...SILENCE_STEP_WORDS,
  id: "WorkersMaintenanceWindowRemoved",
  stage: "Workers",
  title: "End the silences",
  reads: () => ["silences"],
  decide: (observed) => withReading(observed, "silences", (silences) => done(endSilenceEffects("workers", silences))),
});

/** Waits, and says what holds nodes up. The metric of the timeout is 1 as soon as no silence of ours is active. */
export function waitForNodes(
  observed: Observed,
  { message, pools }: { readonly message: string; readonly pools: readonly MachineConfigPool[] },
): StepResult {
  const notReady = observed.read.notReadyNodes?.kind === "observed" ? observed.read.notReadyNodes.value : [];
  const words = [message, ...describeTrouble(pools, notReady)].join("; ");
  return withReading(observed, "silences", (silences) => {
    const value = isAnySilenceActive(silences) ? 0 : 1;
    const isFirst = observed.entry.workerStartTime === undefined;
    return wait(words, [workerTimeout(observed, value)], isFirst ? { workers: "started" } : undefined);
  });
}

/** Ends the step, since all nodes are updated. Paused pools are reported, since their nodes are not. */
export function nodesFinished(observed: Observed, pools: readonly MachineConfigPool[]): StepResult {
  const effects = [...notificationEffects("StateWorkerPlaneFinishedSL", observed), workerTimeout(observed, 0)];
  return done(effects, { workers: "finished", finding: pausedFinding(observed, pools) });
}

function pausedFinding({ plan }: Observed, pools: readonly MachineConfigPool[]): NewPlanCondition | undefined {
  const { paused } = summarizePools(pools);
  const wasFound = plan.status.conditions.some(({ type }) => type === "PoolsPaused");
  if (paused.length === 0 && !wasFound) return undefined;
  return paused.length === 0
    ? { type: "PoolsPaused", status: "False", reason: "NonePaused", message: "All MachineConfigPools were upgraded." }
    : {
      type: "PoolsPaused",
      status: "True",
      reason: "NotUpgraded",
      message: `MachineConfigPools that are paused were not upgraded: ${
        paused.join(", ")
      }. Unpause them to upgrade their nodes.`,
    };
}

function minutesANode({ plan, config }: Observed): number {
  const { timeoutMinutes, expectedMinutes } = config.nodeDrain;
  return Math.max(plan.spec.pdbForceDrainTimeoutMinutes, timeoutMinutes) + expectedMinutes;
}

function workerTimeout(observed: Observed, value: 0 | 1): Effect {
  return { kind: "setMetric", metric: "upgradeoperator_worker_timeout", labels: versionLabel(observed), value };
}

function drainTimeout(node: string): Effect {
  return { kind: "setMetric", metric: "upgradeoperator_node_drain_timeout", labels: { node_name: node }, value: 1 };
}
