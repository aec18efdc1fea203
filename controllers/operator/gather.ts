// Reads the inputs of the operator's next step live: it acts rarely and must not use a stale cache.
import { ignoring, type KubeApi, readOptional } from "../../lib/k8s/api.ts";
import { isMissingOrForbidden, isNotFound } from "../../lib/k8s/api_error.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { countGatedPods } from "../../lib/placement/cluster/ungate.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME, WebhookName } from "../../lib/names.ts";
import type { OperandObservation } from "../../lib/operator/decide/conditions.ts";
import { type OperandConfig, parseOperandConfig } from "../../lib/operator/decide/config_view.ts";
import type { InstallationState, OperandFacts } from "../../lib/operator/decide/operand_step.ts";
import { parseRollout, type Rollout } from "../../lib/operator/decide/rollout.ts";
import { isWebhookCurrent, renderWebhookConfiguration } from "../../lib/operator/cluster/webhook_configuration.ts";
import { readMonitor } from "./exec_format_monitor.ts";
import { readInstallation } from "./finalizers.ts";
import type { OperatorDeps, OperatorFacts, OperatorRun } from "./deps.ts";
import type { OperatorMemory } from "./operator_memory.ts";

/** Reads the facts. Throws ApiError when one is unreadable: no step is better than one on incomplete facts. */
export async function gatherFacts(run: OperatorRun, pathOf: (route: string) => string): Promise<OperatorFacts> {
  const { api, settings, clock, memory, signal } = run;
  // In an uninstall only the rights for leaving remain, so nothing else is read.
  const installation = await readInstallation(run);
  const isUninstalling = installation === "uninstalling";
  const [object, webhook, hasNamespaceConfigs, rollout] = await Promise.all([
    readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal }),
    readOptional(api, { type: Resource.mutatingWebhooks, name: WebhookName.configuration, signal }),
    isUninstalling ? false : hasNamespaceConfig(api, signal),
    isUninstalling ? ALONE : readRollout(run),
  ]);
  const config = object === undefined ? undefined : parseOperandConfig(object);
  const isDeleting = config?.deletingSinceMs !== undefined;
  const isLeaving = config === undefined || isDeleting || isUninstalling;
  const isServing = run.canServe() || rollout.available;
  const nowMs = clock.monotonicMs();
  noteTimes(memory, { isServing, isLeaving, nowMs });
  const desiredWebhook = config === undefined ? undefined : desired(config, run, pathOf);
  const monitor = await readMonitor(run, config, installation);
  return {
    config,
    installation,
    hasNamespaceConfigs,
    webhook: compare(webhook, desiredWebhook),
    desiredWebhook,
    unservedForMs: memory.unservedSinceMs === undefined ? 0 : Math.max(1, nowMs - memory.unservedSinceMs),
    leavingForMs: memory.leavingSinceMs === undefined ? 0 : nowMs - memory.leavingSinceMs,
    forced: { attempts: memory.forcedAttempts, agoMs: nowMs - memory.forcedAtMs },
    gatedPods: isLeaving && webhook === undefined ? await countGatedPods(api, signal) : 0,
    maxGateAgeMs: settings.maxGateAgeMs,
    monitor: monitor.facts,
    taints: readTaintState(run, installation),
    monitorState: monitor.state,
    seen: observe(run, { rollout, isServing, deleting: isDeleting, webhookConfigured: webhook !== undefined }),
  };
}

/** The taint controller stops with the leadership, so an uninstall removes the taints without it. */
function readTaintState({ taints, memory }: OperatorRun, installation: InstallationState): OperandFacts["taints"] {
  const kept = taints();
  if (kept === undefined) return "none";
  return (installation === "uninstalling" ? memory.areTaintsLifted : kept.carried() === 0) ? "none" : "carried";
}

function noteTimes(
  memory: OperatorMemory,
  { isServing, isLeaving, nowMs }: { readonly isServing: boolean; readonly isLeaving: boolean; readonly nowMs: number },
): void {
  memory.unservedSinceMs = isServing ? undefined : memory.unservedSinceMs ?? nowMs;
  memory.leavingSinceMs = isLeaving ? memory.leavingSinceMs ?? nowMs : undefined;
  if (!isLeaving) memory.forcedAttempts = 0;
}

/** Ignores configs that are being deleted: a finalizer could keep them forever. Without the CRD there are none. */
async function hasNamespaceConfig(api: KubeApi, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const { metadata } of listAll(api, Resource.namespaceConfigs, { signal })) {
      if (metadata.deletionTimestamp === undefined) return true;
    }
    return false;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Without a Deployment this replica is the only one. */
const ALONE: Rollout = { available: false, upToDate: true, uniform: true };

export async function readRollout({ api, settings, signal }: OperatorRun): Promise<Rollout> {
  const { deploymentName: name, namespace } = settings;
  if (name === undefined) return ALONE;
  const deployment = await ignoring(isMissingOrForbidden, api.get(Resource.deployments, { namespace, name }, signal));
  return deployment === undefined ? ALONE : parseRollout(deployment);
}

function desired(config: OperandConfig, deps: OperatorDeps, pathOf: (route: string) => string): KubeObject {
  const { endpoint, watchesQueued } = deps.settings;
  return renderWebhookConfiguration(config, { endpoint, watchesQueued, caBundle: deps.caBundle(), pathOf });
}

function compare(live: KubeObject | undefined, wanted: KubeObject | undefined): OperandFacts["webhook"] {
  if (live === undefined) return "absent";
  return wanted !== undefined && isWebhookCurrent(live, wanted) ? "current" : "drifted";
}

function observe(
  deps: OperatorDeps,
  now: Pick<OperandObservation, "deleting" | "webhookConfigured"> & {
    readonly rollout: Rollout;
    readonly isServing: boolean;
  },
): OperandObservation {
  const { rollout, deleting, webhookConfigured } = now;
  const reconciling = deps.canReconcile();
  // While leaving, an unregistered webhook counts as gone, like the MTO's Deployment.
  const isServing = now.isServing && (webhookConfigured || !deleting);
  return {
    controllerAvailable: reconciling,
    controllerUpToDate: reconciling && rollout.upToDate,
    webhookAvailable: isServing,
    webhookUpToDate: isServing && rollout.upToDate,
    webhookConfigured,
    deleting,
  };
}
