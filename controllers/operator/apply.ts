// Applies one OperandStep. The operator also writes status, webhook clients, monitoring, and frees the MTO's operands.
import { ApiError, isNotFound } from "../../lib/k8s/api_error.ts";
import { ignoring } from "../../lib/k8s/api.ts";
import { openDeadline } from "../../lib/clock.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { ungateAll } from "../../lib/placement/cluster/ungate.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME, EventReason, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import type { OperandConfig } from "../../lib/operator/decide/config_view.ts";
import type { OperandStep } from "../../lib/operator/decide/operand_step.ts";
import { podObject } from "../../lib/placement/decide/pod/pod_refs.ts";
import { assertNever } from "../../lib/parsed.ts";
import type { OperatorFacts, OperatorRun } from "./deps.ts";
import { applyMonitor, removeEvents, removeMonitor } from "./exec_format_monitor.ts";
import { recordConfigEvent } from "./report.ts";
import { dropFinalizer, setDeploymentFinalizer, setUninstallFinalizers } from "./finalizers.ts";

export type OperandChange = Extract<OperandStep, { readonly kind: "apply" | "remove" }>;

/** Throws ApiError when the API server refuses the step. */
export async function applyStep(run: OperatorRun, step: OperandChange, facts: OperatorFacts): Promise<void> {
  const { config } = facts;
  switch (step.target) {
    case "finalizer":
      return config === undefined ? undefined : await patchFinalizer(run, config, step);
    case "webhook":
      if (step.kind === "apply") return await applyWebhook(run, facts);
      await removeWebhook(run);
      return run.log.info("webhook configuration removed", { reason: step.reason });
    case "gates":
      return await ungatePods(run, facts);
    case "taints":
      return await liftTaints(run);
    case "uninstallFinalizers":
      return await setUninstallFinalizers(run, step.kind === "apply" ? "withFinalizer" : "withoutFinalizer");
    case "monitor":
      if (step.kind === "remove") return await removeMonitor(run);
      return config === undefined ? undefined : await applyMonitor(run, config);
    case "ownDeployment":
      return await setDeploymentFinalizer(run, step.kind === "apply" ? "withFinalizer" : "withoutFinalizer");
    case "events":
      return await removeEvents(run, step.which);
    default:
      return assertNever(step);
  }
}

async function patchFinalizer(
  { api, log, signal }: OperatorRun,
  config: OperandConfig,
  { kind, finalizer }: Extract<OperandChange, { readonly target: "finalizer" }>,
): Promise<void> {
  const operations = kind === "apply" ? addFinalizer(config, finalizer) : dropFinalizer(config.finalizers, finalizer);
  const target = { name: CLUSTER_CONFIG_NAME };
  await ignoring(
    isNotFound,
    api.patch(Resource.clusterConfigs, target, { body: { kind: "json", operations }, signal }),
  );
  log.info("finalizer changed", { change: kind, finalizer });
}

function addFinalizer(config: OperandConfig, finalizer: string): JsonPatch {
  const guard = { op: "test", path: "/metadata/resourceVersion", value: config.resourceVersion } as const;
  return config.finalizers.length === 0
    ? [guard, { op: "add", path: "/metadata/finalizers", value: [finalizer] }]
    : [guard, { op: "add", path: "/metadata/finalizers/-", value: finalizer }];
}

async function applyWebhook(run: OperatorRun, { desiredWebhook, webhook }: OperatorFacts): Promise<void> {
  if (desiredWebhook === undefined) return;
  const [verb, why] = webhook === "absent" ? ["Create", "it was missing"] : ["Update", "it changed"];
  try {
    await applyOrRecreate(run, desiredWebhook);
  } catch (error) {
    const message = `failed to ${verb.toLowerCase()} ${WEBHOOK_WORDS}: ${errorText(error)}`;
    recordConfigEvent(run, { type: "Warning", reason: `MutatingWebhookConfiguration${verb}Failed`, message });
    throw error;
  }
  run.log.info("webhook configuration applied", { reason: why });
  const message = `${verb.toLowerCase()}d ${WEBHOOK_WORDS} because ${why}`;
  recordConfigEvent(run, { type: "Normal", reason: `MutatingWebhookConfiguration${verb}d`, message });
}

const WEBHOOK_WORDS = `MutatingWebhookConfiguration.admissionregistration.k8s.io/${WebhookName.configuration}`;

/** Recreates a configuration that cannot be merged (Service for URL, stale owner). Meanwhile pods pass ungated. */
async function applyOrRecreate(run: OperatorRun, document: KubeObject): Promise<void> {
  const { api, signal } = run;
  const request = { body: { kind: "apply", document }, signal } as const;
  try {
    await api.patch(Resource.mutatingWebhooks, { name: WebhookName.configuration }, request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    await removeWebhook(run);
    await api.patch(Resource.mutatingWebhooks, { name: WebhookName.configuration }, request);
  }
}

async function removeWebhook({ api, signal }: OperatorRun): Promise<void> {
  await ignoring(isNotFound, api.delete(Resource.mutatingWebhooks, { name: WebhookName.configuration }, { signal }));
}

/** The last resort: removes all gates. An event on each pod gives the reason. */
async function ungatePods(run: OperatorRun, { config }: OperatorFacts): Promise<void> {
  const { api, events, log, settings, signal } = run;
  const age = renderDuration(settings.maxGateAgeMs);
  const { ungated, left } = await ungateAll(api, {
    signal,
    onUngated: (pod) =>
      events.record({
        object: podObject(pod),
        type: "Warning",
        reason: EventReason.gateLifted,
        // Shares the slot of "gate is stuck" and placement: a pod has at most three events.
        slot: 3,
        message: `The scheduling gate ${SCHEDULING_GATE} was lifted by force: pod placement is being removed and ` +
          `this pod was not placed within ${age}. It may be scheduled onto a node its images do not support.`,
      }),
  });
  log.warn("gates lifted by force", { released: ungated.length, left: left.length, firstFailure: left[0]?.reason });
  if (config === undefined) return;
  const message = `lifted the scheduling gate of ${ungated.length} pods by force: they were not placed within ${age}` +
    (left.length === 0 ? "" : `; ${left.length} could not be freed, first ${left[0]?.pod}: ${left[0]?.reason}`);
  recordConfigEvent(run, { type: "Warning", reason: "GatesLifted", message });
}

/** How long taints may delay an uninstall (ms), since the process ends soon. */
const UNINSTALL_UNTAINT_MS = 4_000;

/** Taints that cannot be removed, for lack of time or rights, are logged and stay. The uninstall continues. */
async function liftTaints({ taints, clock, log, memory, signal }: OperatorRun): Promise<void> {
  using deadline = openDeadline(UNINSTALL_UNTAINT_MS, { signal, clock });
  try {
    const left = await taints()?.lift(deadline.signal) ?? 0;
    log[left > 0 ? "warn" : "info"]("architecture taints taken off, since Archway is uninstalled", { left });
  } catch (error) {
    signal.throwIfAborted();
    log.warn("architecture taints not taken off; `archway taints clean` does it", { error: errorText(error) });
  }
  memory.areTaintsLifted = true;
}
