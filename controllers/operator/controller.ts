// The operator: keeps what Archway needs in the cluster while a ClusterPodPlacementConfig exists, and leaves in order. A
// controller of one key, because there is one config: watch → gather → decide → apply → report.
import { backoffMs } from "../../lib/clock.ts";
import { openDeadline } from "../../lib/k8s/deadline.ts";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import { deriveOperandState } from "../../lib/operand/conditions.ts";
import { decideOperandStep } from "../../lib/operand/lifecycle.ts";
import type { OperandStep } from "../../lib/operand/operand_step.ts";
import { type Controller, DONE, openController, requeueAfter } from "../controller.ts";
import { applyStep, type OperandChange } from "./apply.ts";
import type { OperatorDeps } from "./deps.ts";
import { openDriftWatch, openMonitorWatch } from "./drift.ts";
import { gatherFacts, type OperatorFacts, readRollout } from "./gather.ts";
import { openHandlerWatch } from "./handler.ts";
import { isNamespaceEnding, openAccountWatch, readInstallation } from "./uninstall_finalizers.ts";
import { conflictBackoffMs, type Memory, newMemory, noteRepair } from "./memory.ts";
import { releaseMtoOperands } from "./migration.ts";
import { applyMonitoring } from "./monitoring.ts";
import { writeStatus } from "./status.ts";
import { writeWebhookClients } from "./webhook_client_targets.ts";
import { chooseWebhookPaths } from "./webhook_path.ts";

/** The running operator. */
export interface Operator {
  /** Something that it reads may have changed: reconcile soon. Cheap, callable at any time. */
  requestReconcile(): void;
  /** Whether the installation is being deleted: nothing new is to be put into the cluster. */
  isUninstalling(): boolean;
  /**
   * Works until the signal aborts; never rejects. For the leader only, one run at a time. When the installation is being
   * deleted it goes on for some seconds after the signal, until Archway has left.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Most steps of one reconcile: the longest sequence takes twelve. */
const MAX_STEPS = 16;
/** While a roll-out goes on, its conditions follow this fast (ms). */
const PROGRESS_MS = 5_000;
const BACKOFF = { baseMs: 500, capMs: 15_000 } as const;
/** Longest that leaving may take after the signal (ms): within the grace period of the pod. */
const LEAVE_MS = 8_000;
/** Longest read of whether the installation is being deleted (ms), and between two tries to leave. */
const INSTALLATION_READ_MS = 2_000;
const LEAVE_RETRY_MS = 250;
/** Reads that may fail before it is given up to find out. */
const MAX_UNREAD = 3;

/** Makes the operator. Nothing happens before `run`. */
export function openOperator(deps: OperatorDeps): Operator {
  return new OperatorController(deps);
}

class OperatorController implements Operator {
  readonly #deps: OperatorDeps;
  readonly #controller: Controller;
  #memory = newMemory();

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    const requestReconcile = (): void => this.requestReconcile();
    this.#controller = openController({
      name: "operator",
      watches: [
        openDriftWatch(deps, requestReconcile),
        openAccountWatch(deps, requestReconcile),
        ...deps.settings.execFormatImage === undefined
          ? []
          : [openMonitorWatch(deps, requestReconcile), openHandlerWatch(deps, requestReconcile)],
      ],
      parallel: 1,
      clock: deps.clock,
      log: deps.log,
      queueMetrics: deps.queueMetrics,
      reconcile: (_key, signal) => this.#reconcile(signal),
    });
  }

  requestReconcile(): void {
    this.#controller.enqueue(CLUSTER_CONFIG_NAME);
  }

  isUninstalling(): boolean {
    return this.#memory.ending !== undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#memory = newMemory();
    if (this.#deps.settings.migration) await releaseMtoOperands(this.#deps, signal);
    this.requestReconcile();
    await this.#controller.run(signal);
    await this.#leaveIfUninstalled();
  }

  async #reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const { clock, log, settings } = this.#deps;
    const memory = this.#memory;
    const restMs = memory.restUntilMs - clock.monotonicMs();
    if (restMs > 0) return requeueAfter(restMs);
    try {
      const waitMs = await reconcileOnce(this.#deps, memory, signal);
      memory.failures = 0;
      memory.restUntilMs = clock.monotonicMs() + conflictBackoffMs(memory, clock.monotonicMs());
      return memory.ending === "left" ? DONE : requeueAfter(Math.min(waitMs, settings.resyncMs));
    } catch (error) {
      if (signal.aborted) return DONE;
      const failures = ++memory.failures;
      const level = classifyWriteFailure(error) === "stale" ? "debug" : "warn";
      log[level]("operator could not finish", { error: errorText(error), failures });
      // A watch event does not shorten the backoff: the failed write itself may have caused it.
      const delayMs = memory.ending === undefined ? backoffMs(failures, BACKOFF) : LEAVE_RETRY_MS;
      memory.restUntilMs = clock.monotonicMs() + delayMs;
      return requeueAfter(delayMs);
    }
  }

  /** This process is to end. If its account is being deleted, it is the last that can leave in order. */
  async #leaveIfUninstalled(): Promise<void> {
    const deps: OperatorDeps = { ...this.#deps, api: this.#deps.unfencedApi };
    const { clock, log } = deps;
    using leaving = openDeadline(LEAVE_MS, { signal: new AbortController().signal, clock });
    let unread = 0;
    while (this.#memory.ending !== "left" && !leaving.signal.aborted) {
      try {
        if (!await this.#isUninstalled(deps, leaving.signal)) return await this.#releaseIfUnused(deps, leaving.signal);
        await reconcileOnce(deps, this.#memory, leaving.signal);
      } catch (error) {
        // An API server that does not answer is not retried for long to find out whether there is anything to remove.
        const isKnown = this.#memory.ending !== undefined;
        if (!isKnown && ++unread > MAX_UNREAD) return;
        log[isKnown ? "warn" : "debug"]("not left yet", { error: errorText(error) });
        await clock.sleep(LEAVE_RETRY_MS, leaving.signal);
      }
    }
  }

  async #isUninstalled(deps: OperatorDeps, signal: AbortSignal): Promise<boolean> {
    using reading = openDeadline(INSTALLATION_READ_MS, { signal, clock: deps.clock });
    const state = await readInstallation(deps, this.#memory, reading.signal);
    if (state === "foreign" || state === "left") return false;
    if (state !== "uninstalling" && !await isNamespaceEnding(deps, reading.signal)) return false;
    this.#memory.ending = "uninstalling";
    return true;
  }

  /**
   * Without a config nothing needs the uninstall finalizers: an account that is deleted in the next moment would wait for
   * ever, as would a Deployment that is being deleted.
   */
  async #releaseIfUnused(deps: OperatorDeps, signal: AbortSignal): Promise<void> {
    const memory = this.#memory;
    using reading = openDeadline(INSTALLATION_READ_MS, { signal, clock: deps.clock });
    while (!signal.aborted) {
      const facts = await gatherFacts(deps, { memory, pathOf: (route) => route, signal: reading.signal });
      const { step } = decideOperandStep(facts);
      if (step.kind !== "remove" || step.target !== "handler" && step.target !== "uninstallFinalizers") return;
      await applyStep(deps, step, { facts, memory, signal });
      if (step.target === "uninstallFinalizers") return;
    }
  }
}

/** One reconcile; returns when the next is due at the latest (ms). */
async function reconcileOnce(deps: OperatorDeps, memory: Memory, signal: AbortSignal): Promise<number> {
  // While it leaves, only the rights for leaving are left.
  if (memory.ending !== undefined) return await takeSteps(deps, memory, { pathOf: (route) => route, signal });
  // A new leader must not write plain paths over secret ones that it has not seen yet.
  if (deps.secretPaths?.isKnown() === false) return BACKOFF.baseMs;
  const rollout = await readRollout(deps, signal);
  const { pathOf, retryMs } = chooseWebhookPaths(deps, { memory, rollout, nowMs: deps.clock.monotonicMs() });
  await writeWebhookClients(deps, { pathOf, signal });
  return Math.min(await takeSteps(deps, memory, { pathOf, signal }), retryMs ?? deps.settings.resyncMs);
}

async function takeSteps(
  deps: OperatorDeps,
  memory: Memory,
  { pathOf, signal }: { readonly pathOf: (route: string) => string; readonly signal: AbortSignal },
): Promise<number> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const facts = await gatherFacts(deps, { memory, pathOf, signal });
    const { rule, step } = decideOperandStep(facts);
    deps.log.debug("operand", { rule });
    if (isWorthReporting(step, memory)) {
      await writeStatus(deps, facts, { waiting: step.kind === "wait" ? step.reason : undefined, signal });
    }
    if (step.kind === "wait") return step.retryMs;
    if (step.kind === "done") {
      await lookAtMonitoring(deps, facts, { memory, signal });
      return deriveOperandState(facts.seen).progressing ? PROGRESS_MS : deps.settings.resyncMs;
    }
    remember(deps, memory, { step, facts });
    await applyStep(deps, step, { facts, memory, signal });
    if (memory.ending === "left") return deps.settings.resyncMs;
  }
  return BACKOFF.baseMs;
}

/** The kinds may be installed at any time; reading them in every reconcile would be too often. */
async function lookAtMonitoring(
  deps: OperatorDeps,
  { config }: OperatorFacts,
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  const nowMs = deps.clock.monotonicMs();
  const due = memory.monitoringAtMs === undefined || nowMs - memory.monitoringAtMs >= deps.settings.resyncMs;
  if (!due || config === undefined || config.deletingSinceMs !== undefined) return;
  memory.monitoringAtMs = nowMs;
  await applyMonitoring(deps, config, signal);
}

function remember(
  { clock }: OperatorDeps,
  memory: Memory,
  { step, facts }: { readonly step: OperandChange; readonly facts: OperatorFacts },
): void {
  const nowMs = clock.monotonicMs();
  if (step.target === "webhook") noteRepair(memory, { wanted: JSON.stringify(facts.desiredWebhook), nowMs });
  if (step.target !== "gates") return;
  memory.forcedAttempts++;
  memory.forcedAtMs = nowMs;
}

/** A finalizer's change is guarded by the version that was read; a status write in between would outdate it. */
function isWorthReporting(step: OperandStep, memory: Memory): boolean {
  return memory.ending === undefined && (step.kind === "done" || step.kind === "wait" || step.target !== "finalizer");
}
