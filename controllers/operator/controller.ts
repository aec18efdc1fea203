// The operator: keeps Archway's objects while a ClusterPodPlacementConfig exists, then removes them in order. One key.
import { backoffMs, openDeadline } from "../../lib/clock.ts";
import { classifyWriteFailure } from "../../lib/k8s/api_error.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import { deriveOperandState } from "../../lib/operator/decide/conditions.ts";
import { decideOperandStep } from "../../lib/operator/decide/lifecycle.ts";
import type { OperandStep } from "../../lib/operator/decide/operand_step.ts";
import { type Controller, DONE, openController, requeueAfter } from "../controller.ts";
import { applyStep, type OperandChange } from "./apply.ts";
import type { OperatorDeps, OperatorFacts, OperatorRun } from "./deps.ts";
import { gatherFacts, readRollout } from "./gather.ts";
import { OperatorMemory } from "./operator_memory.ts";
import { applyMonitoring } from "./prometheus_objects.ts";
import { writeStatus } from "./report.ts";
import { isNamespaceEnding, readInstallation, releaseMtoOperands } from "./finalizers.ts";
import { openOwnWatches } from "./watches.ts";
import { chooseWebhookPaths, writeWebhookClients } from "./webhook_clients.ts";

/** Most steps of one reconcile: the longest sequence has twelve. */
const MAX_STEPS = 16;
/** Interval of condition updates during a roll-out (ms). */
const PROGRESS_MS = 5_000;
const BACKOFF = { baseMs: 500, capMs: 15_000 } as const;
/** Pause after correcting a changed webhook configuration (ms), which another writer may change again. */
const WEBHOOK_PAUSE_MS = 1_000;
/** Time limit for leaving (ms), within the pod's grace period. */
const LEAVE_MS = 8_000;
/** Time limit for reading whether the installation is being deleted, and retry interval for leaving (ms). */
const INSTALLATION_READ_MS = 2_000;
const LEAVE_RETRY_MS = 250;
/** Failed reads after which the operator no longer checks whether Archway is being uninstalled. */
const MAX_UNREAD = 3;

export class Operator {
  readonly #deps: OperatorDeps;
  readonly #controller: Controller;
  #memory = new OperatorMemory();

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#controller = openController({
      ...deps,
      name: "operator",
      watches: openOwnWatches(deps, () => this.requestReconcile()),
      parallel: 1,
      reconcile: (_key, signal) => this.#reconcile({ ...deps, memory: this.#memory, signal }),
    });
  }

  /** Reconciles soon, because something the operator reads may have changed. Cheap, callable at any time. */
  requestReconcile(): void {
    this.#controller.enqueue(CLUSTER_CONFIG_NAME);
  }

  /** Whether the installation is being deleted, so nothing new may be added to the cluster. */
  isUninstalling(): boolean {
    return this.#memory.ending !== undefined;
  }

  /** Never rejects. During an uninstall it continues after the signal, until Archway has left. */
  async run(signal: AbortSignal): Promise<void> {
    const memory = this.#memory = new OperatorMemory();
    this.requestReconcile();
    await Promise.all([this.#controller.run(signal), releaseMtoOperands({ ...this.#deps, memory, signal })]);
    await this.#leaveIfUninstalled();
  }

  async #reconcile(run: OperatorRun): Promise<ReconcileResult> {
    const { clock, log, settings, memory, signal } = run;
    const restMs = memory.restUntilMs - clock.monotonicMs();
    if (restMs > 0) return requeueAfter(restMs);
    try {
      const waitMs = await reconcileOnce(run);
      memory.failures = 0;
      return memory.ending === "left" ? DONE : requeueAfter(Math.min(waitMs, settings.resyncMs));
    } catch (error) {
      if (signal.aborted) return DONE;
      const failures = ++memory.failures;
      const level = classifyWriteFailure(error) === "stale" ? "debug" : "warn";
      log[level]("operator could not finish", { error: errorText(error), failures });
      // Watch events do not shorten the backoff, because the failed write may have caused them.
      const delayMs = memory.ending === undefined ? backoffMs(failures, BACKOFF) : LEAVE_RETRY_MS;
      memory.restUntilMs = clock.monotonicMs() + delayMs;
      return requeueAfter(delayMs);
    }
  }

  /** Called when leading ends. If Archway's account is being deleted, no other replica can uninstall properly. */
  async #leaveIfUninstalled(): Promise<void> {
    const { clock, log, unfencedApi: api } = this.#deps;
    const memory = this.#memory;
    using leaving = openDeadline(LEAVE_MS, { signal: new AbortController().signal, clock });
    const run: OperatorRun = { ...this.#deps, api, memory, signal: leaving.signal };
    let unread = 0;
    while (memory.ending !== "left" && !leaving.signal.aborted) {
      try {
        if (!await isUninstalled(run)) return await releaseIfUnused(run);
        await reconcileOnce(run);
      } catch (error) {
        // Without an answer, do not retry for long only to find out whether there is anything to remove.
        const isKnown = memory.ending !== undefined;
        if (!isKnown && ++unread > MAX_UNREAD) return;
        log[isKnown ? "warn" : "debug"]("not left yet", { error: errorText(error) });
        await clock.sleep(LEAVE_RETRY_MS, leaving.signal);
      }
    }
  }
}

async function isUninstalled(run: OperatorRun): Promise<boolean> {
  using reading = openDeadline(INSTALLATION_READ_MS, run);
  const soon = { ...run, signal: reading.signal };
  const state = await readInstallation(soon);
  if (state === "foreign" || state === "left") return false;
  if (state !== "uninstalling" && !await isNamespaceEnding(soon)) return false;
  run.memory.ending = "uninstalling";
  return true;
}

/** Removes finalizers that no config needs: they would block the account's deletion forever. */
async function releaseIfUnused(run: OperatorRun): Promise<void> {
  using reading = openDeadline(INSTALLATION_READ_MS, run);
  while (!run.signal.aborted) {
    const facts = await gatherFacts({ ...run, signal: reading.signal }, (route) => route);
    const { step } = decideOperandStep(facts);
    if (step.kind !== "remove" || step.target !== "ownDeployment" && step.target !== "uninstallFinalizers") return;
    await applyStep(run, step, facts);
    if (step.target === "uninstallFinalizers") return;
  }
}

/** One reconcile; returns the longest time until the next (ms). */
async function reconcileOnce(run: OperatorRun): Promise<number> {
  // While Archway is leaving, it only has the rights to leave.
  if (run.memory.ending !== undefined) return await takeSteps(run, (route) => route);
  // A new leader must not replace secret paths that it has not seen yet.
  if (run.secretPaths?.isKnown() === false) return BACKOFF.baseMs;
  const { pathOf, retryMs } = chooseWebhookPaths(run, await readRollout(run), run.clock.monotonicMs());
  await writeWebhookClients(run, pathOf);
  return Math.min(await takeSteps(run, pathOf), retryMs ?? run.settings.resyncMs);
}

async function takeSteps(run: OperatorRun, pathOf: (route: string) => string): Promise<number> {
  const { memory, settings: { resyncMs } } = run;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const facts = await gatherFacts(run, pathOf);
    const { rule, step } = decideOperandStep(facts);
    run.log.debug("operand", { rule });
    if (isWorthReporting(step, memory)) {
      await writeStatus(run, facts, step.kind === "wait" ? step.reason : undefined);
    }
    if (step.kind === "wait") return step.retryMs;
    if (step.kind === "done") {
      await refreshMonitoring(run, facts);
      return deriveOperandState(facts.seen).progressing ? PROGRESS_MS : resyncMs;
    }
    remember(run, step, facts);
    await applyStep(run, step, facts);
    if (memory.ending === "left") return resyncMs;
  }
  return BACKOFF.baseMs;
}

/** The monitoring kinds may be installed at any time, but reading them in every reconcile is too often. */
async function refreshMonitoring(run: OperatorRun, { config }: OperatorFacts): Promise<void> {
  const { clock, memory, settings } = run;
  const nowMs = clock.monotonicMs();
  const due = memory.monitoringAtMs === undefined || nowMs - memory.monitoringAtMs >= settings.resyncMs;
  if (!due || config === undefined || config.deletingSinceMs !== undefined) return;
  memory.monitoringAtMs = nowMs;
  await applyMonitoring(run, config);
}

function remember({ clock, memory }: OperatorRun, step: OperandChange, { webhook }: OperatorFacts): void {
  const nowMs = clock.monotonicMs();
  if (step.target === "webhook" && webhook === "drifted") memory.restUntilMs = nowMs + WEBHOOK_PAUSE_MS;
  if (step.target !== "gates") return;
  memory.forcedAttempts++;
  memory.forcedAtMs = nowMs;
}

/** A finalizer change depends on the version that was read, which a status write would outdate. */
function isWorthReporting(step: OperandStep, memory: OperatorMemory): boolean {
  return memory.ending === undefined && (step.kind === "done" || step.kind === "wait" || step.target !== "finalizer");
}
