// The operator: keeps what Archway needs in the cluster while a ClusterPodPlacementConfig exists, and leaves in order.
// Opened by main on every replica, run by the leader alone. Walk: wake → gather → decide → apply → report.
import { backoffMs } from "../../lib/clock.ts";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { errorText } from "../../lib/log.ts";
import { deriveOperandState } from "../../lib/operand/conditions.ts";
import type { OperandConfig } from "../../lib/operand/config_view.ts";
import { decideOperandStep, type OperandStep } from "../../lib/operand/lifecycle.ts";
import { applyStep, type OperandChange } from "./apply.ts";
import { watchDrift } from "./drift.ts";
import { gatherFacts, type OperatorFacts, readRollout } from "./gather.ts";
import { conflictBackoffMs, type Memory, newMemory, noteRepair } from "./memory.ts";
import { applyMonitoring } from "./monitoring.ts";
import { releaseReferenceOperands } from "./migration.ts";
import type { OperatorDeps } from "./deps.ts";
import { writeStatus } from "./status.ts";
import { writeWebhookClients } from "./webhook_client_targets.ts";
import { chooseWebhookPaths } from "./webhook_path.ts";

/** The running operator. */
export interface Operator {
  /** Something it looks at may have changed: look soon. Cheap, callable at any time. */
  poke(): void;
  /** Works until the signal aborts; never rejects. For the leader only, one run at a time. */
  run(signal: AbortSignal): Promise<void>;
}

/** Steps of one look at most: the longest way from start to end takes nine. */
const MAX_STEPS = 16;
/** While a roll-out goes on, its conditions follow this fast (ms). Source: operator §2.5. */
const PROGRESS_MS = 5_000;
const BACKOFF = { baseMs: 500, capMs: 15_000 } as const;

/** Makes the operator. Nothing happens before `run`. */
export function openOperator(parts: OperatorDeps): Operator {
  const { clock, log, settings } = parts;
  let wake = new AbortController();

  const poke = (): void => wake.abort();

  async function run(signal: AbortSignal): Promise<void> {
    await Promise.all([watchDrift(parts, { onChange: poke, signal }), reconcile(signal)]);
  }

  async function reconcile(signal: AbortSignal): Promise<void> {
    const memory = newMemory();
    if (settings.migration) await releaseReferenceOperands(parts, signal);
    for (let failures = 0; !signal.aborted;) {
      wake = new AbortController();
      try {
        const waitMs = await look(memory, signal);
        failures = 0;
        await clock.sleep(conflictBackoffMs(memory, clock.monotonicMs()), signal);
        await clock.sleep(Math.min(waitMs, settings.resyncMs), AbortSignal.any([signal, wake.signal]));
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        const stale = classifyWriteFailure(error) === "stale";
        log[stale ? "debug" : "warn"]("operator could not finish", { error: errorText(error), failures });
        // Nothing wakes it early: what failed may itself be what changes things.
        await clock.sleep(backoffMs(failures, BACKOFF), signal);
      }
    }
  }

  /** One look at everything; answers when to look again at the latest (ms). */
  async function look(memory: Memory, signal: AbortSignal): Promise<number> {
    // A new leader must not write plain paths over secret ones that it has not seen yet.
    if (parts.secretPaths?.isKnown() === false) return BACKOFF.baseMs;
    const rollout = await readRollout(parts, signal);
    const { pathOf, retryMs } = chooseWebhookPaths(parts, { memory, rollout, nowMs: clock.monotonicMs() });
    await writeWebhookClients(parts, { pathOf, signal });
    return Math.min(await takeSteps(memory, { pathOf, signal }), retryMs ?? settings.resyncMs);
  }

  async function takeSteps(
    memory: Memory,
    { pathOf, signal }: { readonly pathOf: (route: string) => string; readonly signal: AbortSignal },
  ): Promise<number> {
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const facts = await gatherFacts(parts, { memory, pathOf, signal });
      const step = decideOperandStep(facts);
      if (isWorthReporting(step)) {
        await writeStatus(parts, facts, { waiting: step.kind === "wait" ? step.reason : undefined, signal });
      }
      if (step.kind === "wait") return step.retryMs;
      if (step.kind === "done") {
        await lookAtMonitoring(memory, { config: facts.config, signal });
        return deriveOperandState(facts.seen).progressing ? PROGRESS_MS : settings.resyncMs;
      }
      remember(memory, { step, facts });
      await applyStep(parts, step, { facts, signal });
    }
    return BACKOFF.baseMs;
  }

  /** The kinds may come at any time; asking at every look would be too often. */
  async function lookAtMonitoring(
    memory: Memory,
    options: { readonly config: OperandConfig | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    const { config, signal } = options;
    const nowMs = clock.monotonicMs();
    const due = memory.monitoringAtMs === undefined || nowMs - memory.monitoringAtMs >= settings.resyncMs;
    if (!due || config === undefined || config.deletingSinceMs !== undefined) return;
    memory.monitoringAtMs = nowMs;
    await applyMonitoring(parts, config, signal);
  }

  function remember(
    memory: Memory,
    { step, facts }: { readonly step: OperandChange; readonly facts: OperatorFacts },
  ): void {
    const nowMs = clock.monotonicMs();
    if (step.target === "webhook") noteRepair(memory, { wanted: JSON.stringify(facts.desiredWebhook), nowMs });
    if (step.target !== "gates") return;
    memory.forcedAttempts++;
    memory.forcedAtMs = nowMs;
  }

  return { poke, run };
}

/** A finalizer's change is guarded by the version that was read; a status write in between would outdate it. */
function isWorthReporting(step: OperandStep): boolean {
  return step.kind === "done" || step.kind === "wait" || step.target !== "finalizer";
}
