// Carries out one OperandStep: the only writes of the operator besides status, CA bundles and monitoring.
import { ApiError, isNotFound } from "../../lib/k8s/errors.ts";
import { openDeadline } from "../../lib/k8s/deadline.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { releaseGatedPods } from "../../lib/gates/release_gates.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { renderDuration } from "../../lib/duration.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME, EventReason, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import type { OperandConfig } from "../../lib/operand/config_view.ts";
import type { OperandFinalizer, OperandStep } from "../../lib/operand/operand_step.ts";
import { podRef } from "../../lib/placement/pod_refs.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { applyMonitor, removeEvents, removeMonitor } from "./exec_format_monitor.ts";
import { dropFinalizer } from "./finalizers.ts";
import type { OperatorFacts } from "./gather.ts";
import { setHandler } from "./handler.ts";
import { setUninstallFinalizers } from "./uninstall_finalizers.ts";
import type { Memory } from "./memory.ts";
import { recordConfigEvent } from "./events.ts";
import type { OperatorDeps } from "./deps.ts";

/** A step that changes the cluster. */
export type OperandChange = Extract<OperandStep, { readonly kind: "apply" | "remove" }>;

/** Carries it out. Throws ApiError when the API server refuses it. */
export async function applyStep(
  deps: OperatorDeps,
  step: OperandChange,
  options: { readonly facts: OperatorFacts; readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  const { facts, memory, signal } = options;
  switch (step.target) {
    case "finalizer": {
      if (facts.config === undefined) return;
      await patchFinalizer(deps, { config: facts.config, step, signal });
      return deps.log.info("finalizer changed", { change: step.kind, finalizer: step.finalizer });
    }
    case "webhook": {
      if (step.kind === "apply") return await applyWebhook(deps, facts, signal);
      await removeWebhook(deps, signal);
      return deps.log.info("webhook configuration removed", { reason: step.reason });
    }
    case "gates":
      return await liftGates(deps, facts, signal);
    case "taints":
      return await liftTaints(deps, memory, signal);
    case "uninstallFinalizers":
      return await setUninstallFinalizers(deps, step.kind === "apply" ? "held" : "free", { memory, signal });
    case "monitor":
      if (step.kind === "remove") return await removeMonitor(deps, { memory, signal });
      return facts.config === undefined ? undefined : await applyMonitor(deps, facts.config, { memory, signal });
    case "handler":
      return await setHandler(deps, step.kind === "apply" ? "held" : "free", { memory, signal });
    case "events":
      return await removeEvents(deps, { which: step.which, memory, signal });
    default:
      return unreachable(step);
  }
}

async function patchFinalizer(
  deps: OperatorDeps,
  change: {
    readonly config: OperandConfig;
    readonly step: { readonly kind: "apply" | "remove"; readonly finalizer: OperandFinalizer };
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { config, step, signal } = change;
  const operations = step.kind === "apply"
    ? addFinalizer(config, step.finalizer)
    : dropFinalizer(config.finalizers, step.finalizer);
  const target = { name: CLUSTER_CONFIG_NAME };
  try {
    await deps.api.patch(Resource.clusterConfigs, target, { body: { kind: "json", operations }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function addFinalizer(config: OperandConfig, finalizer: string): JsonPatch {
  const guard = { op: "test", path: "/metadata/resourceVersion", value: config.resourceVersion } as const;
  return config.finalizers.length === 0
    ? [guard, { op: "add", path: "/metadata/finalizers", value: [finalizer] }]
    : [guard, { op: "add", path: "/metadata/finalizers/-", value: finalizer }];
}

async function applyWebhook(deps: OperatorDeps, facts: OperatorFacts, signal: AbortSignal): Promise<void> {
  const { desiredWebhook, webhook } = facts;
  if (desiredWebhook === undefined) return;
  const [verb, why] = webhook === "absent" ? ["Create", "it was missing"] : ["Update", "it changed"];
  try {
    await applyOrRecreate(deps, desiredWebhook, signal);
  } catch (error) {
    const message = `failed to ${verb.toLowerCase()} ${WEBHOOK_WORDS}: ${errorText(error)}`;
    recordConfigEvent(deps, { type: "Warning", reason: `MutatingWebhookConfiguration${verb}Failed`, message });
    throw error;
  }
  deps.log.info("webhook configuration applied", { reason: why });
  const message = `${verb.toLowerCase()}d ${WEBHOOK_WORDS} because ${why}`;
  recordConfigEvent(deps, { type: "Normal", reason: `MutatingWebhookConfiguration${verb}d`, message });
}

const WEBHOOK_WORDS = `MutatingWebhookConfiguration.admissionregistration.k8s.io/${WebhookName.configuration}`;

/** What cannot be merged (a Service in the place of a URL, a stale owner) is replaced; pods meanwhile pass ungated. */
async function applyOrRecreate(deps: OperatorDeps, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { api } = deps;
  const request = { body: { kind: "apply", document: object, force: true }, signal } as const;
  try {
    await api.patch(Resource.mutatingWebhooks, { name: WebhookName.configuration }, request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    await removeWebhook(deps, signal);
    await api.patch(Resource.mutatingWebhooks, { name: WebhookName.configuration }, request);
  }
}

async function removeWebhook({ api }: OperatorDeps, signal: AbortSignal): Promise<void> {
  try {
    await api.delete(Resource.mutatingWebhooks, { name: WebhookName.configuration }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The last resort: removes the gates; an event on each pod gives the reason. */
async function liftGates(deps: OperatorDeps, facts: OperatorFacts, signal: AbortSignal): Promise<void> {
  const { api, events, log, settings } = deps;
  const age = renderDuration(settings.maxGateAgeMs);
  const { released, left } = await releaseGatedPods(api, {
    signal,
    onReleased: (pod) =>
      events.record({
        object: podRef(pod),
        type: "Warning",
        reason: EventReason.gateLifted,
        // The slot of "the gate is stuck" and of the placement: a pod has three events at most.
        slot: 3,
        critical: true,
        message: `The scheduling gate ${SCHEDULING_GATE} was lifted by force: pod placement is being removed and ` +
          `this pod was not placed within ${age}. It may be scheduled onto a node its images do not support.`,
      }),
  });
  log.warn("gates lifted by force", { released: released.length, left: left.length, firstFailure: left[0]?.reason });
  if (facts.config === undefined) return;
  recordConfigEvent(deps, {
    type: "Warning",
    reason: "GatesLifted",
    message: `lifted the scheduling gate of ${released.length} pods by force: they were not placed within ${age}` +
      (left.length === 0 ? "" : `; ${left.length} could not be freed, first ${left[0]?.pod}: ${left[0]?.reason}`),
  });
}

/** Longest that the taints may hold up an uninstall (ms): the process lasts only for moments. */
const UNTAINT_MS = 4_000;

/** What cannot be taken off in time, or for want of rights, is named and left: the rest must still leave. */
async function liftTaints({ taints, clock, log }: OperatorDeps, memory: Memory, signal: AbortSignal): Promise<void> {
  using deadline = openDeadline(UNTAINT_MS, { signal, clock });
  try {
    const left = await taints?.()?.lift(deadline.signal) ?? 0;
    log[left > 0 ? "warn" : "info"]("architecture taints taken off, since Archway is uninstalled", { left });
  } catch (error) {
    signal.throwIfAborted();
    log.warn("architecture taints not taken off; `archway taints clean` does it", { error: errorText(error) });
  }
  memory.taintsLifted = true;
}
