// Finalizers keep Archway's account and role until it has left. The MTO's finalizer keeps Archway's Deployment while
// daemons write ENoExecEvents. When Archway takes over, it removes the finalizers of the MTO's Deployments.
import { openDeadline } from "../../lib/clock.ts";
import { isForbidden, isGoneOrReplaced, isMissingOrForbidden } from "../../lib/k8s/api_error.ts";
import {
  apiVersionOf,
  type KubeObject,
  Resource,
  type ResourceTarget,
  type ResourceType,
} from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Finalizer, Installation, UNINSTALL_FINALIZER } from "../../lib/names.ts";
import type { InstallationState, OwnDeploymentState } from "../../lib/operator/decide/operand_step.ts";
import type { OperatorRun } from "./deps.ts";
import { type JsonPatch, pointer } from "../../lib/k8s/patch.ts";
import { ignoring, type KubeApi, type PatchOptions, readOptional } from "../../lib/k8s/api.ts";

/** The state of the installation. Deletion is final: later objects are another installation. */
export async function readInstallation({ api, settings, memory, signal }: OperatorRun): Promise<InstallationState> {
  if (memory.ending !== undefined) return memory.ending;
  const target = { namespace: settings.namespace, name: Installation.serviceAccount };
  const account = await ignoring(isMissingOrForbidden, api.get(Resource.serviceAccounts, target, signal));
  if (account === undefined) return "foreign";
  const state = stateOf(account);
  if (state === "uninstalling") memory.ending = state;
  return state === "withoutFinalizer" && memory.areFinalizersRefused ? "foreign" : state;
}

/** Whether the namespace is being deleted. Archway's account and pods are then deleted in no particular order. */
export async function isNamespaceEnding({ api, settings, signal }: OperatorRun): Promise<boolean> {
  const { metadata } = await api.get(Resource.namespaces, { name: settings.namespace }, signal);
  return metadata.deletionTimestamp !== undefined;
}

function stateOf({ metadata }: KubeObject): "withoutFinalizer" | "withFinalizer" | "uninstalling" {
  if (metadata.deletionTimestamp !== undefined) return "uninstalling";
  return metadata.finalizers?.includes(UNINSTALL_FINALIZER) ? "withFinalizer" : "withoutFinalizer";
}

/** Time in which even a busy API server authorizes a request by its head (ms). */
const AUTHORIZED_MS = 2_000;

/** Time limit for changing the finalizers (ms). The end of leading does not abort it. */
const CHANGE_MS = 8_000;

/**
 * Each object grants the right to change the others, so the heads of all requests are sent before any is processed.
 * Requests that are only sent together leave an object behind in one of twenty uninstallations. The account comes
 * first: if it cannot be released, the others stay, and with them the right to retry.
 */
export async function setUninstallFinalizers(
  run: OperatorRun,
  wanted: "withFinalizer" | "withoutFinalizer",
): Promise<void> {
  const { api, clock, log, settings: { namespace }, memory } = run;
  using deadline = openDeadline(CHANGE_MS, { signal: new AbortController().signal, clock });
  const { signal } = deadline;
  const finalizers = wanted === "withFinalizer" ? [UNINSTALL_FINALIZER] : [];
  const set = (type: ResourceType, target: ResourceTarget, holdBack?: Promise<void>): Promise<void> =>
    ownFinalizers({ api, signal, holdBack }, type, target, finalizers);
  const [account, role] = [{ namespace, name: Installation.serviceAccount }, { name: Installation.uninstallRole }];
  const authorized = wanted === "withoutFinalizer" ? clock.sleep(AUTHORIZED_MS, signal) : undefined;
  const first = set(Resource.serviceAccounts, account, authorized);
  const others = [Resource.clusterRoles, Resource.clusterRoleBindings].map((type) => set(type, role, first));
  const results = await Promise.allSettled([first, ...others]);
  const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  const fault = refused.find((reason) => !isMissingOrForbidden(reason));
  // Retry all faults except a missing right: an object that keeps its finalizer is stuck forever.
  if (fault !== undefined && wanted === "withoutFinalizer") throw fault;
  if (memory.ending !== undefined) memory.ending = "left";
  if (refused.length === 0) return log.info("own account and role", { state: wanted });
  memory.areFinalizersRefused = true;
  log.warn("own account and role: finalizer not changed", { state: wanted, error: errorText(refused[0]) });
}

/** Removes the finalizer if it is still at the same index; empty when not in the list. */
export function dropFinalizer(finalizers: readonly string[], finalizer: string): JsonPatch {
  const index = finalizers.indexOf(finalizer);
  if (index < 0) return [];
  const path = pointer("metadata", "finalizers", index);
  return [{ op: "test", path, value: finalizer }, { op: "remove", path }];
}

/** Makes these the only finalizers that Archway owns on the object. */
async function ownFinalizers(
  { api, ...options }: { readonly api: KubeApi } & Pick<PatchOptions, "signal" | "holdBack">,
  type: ResourceType,
  target: ResourceTarget,
  finalizers: readonly string[],
): Promise<void> {
  const metadata = { ...target, finalizers: finalizers.length === 0 ? undefined : finalizers };
  const document = { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  await api.patch(type, target, { body: { kind: "apply", document }, ...options });
}

/** The state of our Deployment. In an uninstall it cannot be read, and counts as held until it is released. */
export async function readOwnDeployment(
  { api, settings: { namespace }, memory, signal }: OperatorRun,
  installation: InstallationState,
): Promise<OwnDeploymentState> {
  if (memory.isOwnDeploymentRefused) return "foreign";
  if (installation === "uninstalling") return memory.isOwnDeploymentReleased ? "foreign" : "withFinalizer";
  const wanted = { type: Resource.deployments, namespace, name: Installation.deployment, signal };
  return ownDeploymentStateOf(await ignoring(isForbidden, readOptional(api, wanted)));
}

function ownDeploymentStateOf(deployment: KubeObject | undefined): OwnDeploymentState {
  if (deployment === undefined) return "foreign";
  const { finalizers, deletionTimestamp } = deployment.metadata;
  const isHeld = finalizers?.includes(Finalizer.enoexecEvents) === true;
  if (deletionTimestamp !== undefined) return isHeld ? "deleting" : "foreign";
  return isHeld ? "withFinalizer" : "withoutFinalizer";
}

/** Adds or removes the Deployment's finalizer. Without the right to do so, leaves the Deployment unchanged. */
export async function setDeploymentFinalizer(
  run: OperatorRun,
  wanted: "withFinalizer" | "withoutFinalizer",
): Promise<void> {
  const { log, settings: { namespace }, memory } = run;
  const target = { namespace, name: Installation.deployment };
  try {
    await ownFinalizers(run, Resource.deployments, target, wanted === "withFinalizer" ? [Finalizer.enoexecEvents] : []);
    log.info("own deployment", { state: wanted });
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
    memory.isOwnDeploymentRefused = true;
    log.debug("own deployment: finalizer not changed", { state: wanted, error: errorText(error) });
  }
  memory.isOwnDeploymentReleased = wanted === "withoutFinalizer";
}

const LEFT_BEHIND: readonly (readonly [deployment: string, finalizer: string])[] = [
  ["pod-placement-controller", Finalizer.podPlacement],
  ["enoexec-event-handler-controller", Finalizer.enoexecEvents],
];

/** The MTO's default namespace. */
const MTO_NAMESPACE = "openshift-multiarch-tuning-operator";

/** Removes the MTO's finalizers from its Deployments, if permitted. Never throws. */
export async function releaseMtoOperands(run: OperatorRun): Promise<void> {
  for (const namespace of new Set([run.settings.namespace, MTO_NAMESPACE])) {
    for (const [name, finalizer] of LEFT_BEHIND) {
      try {
        await free(run, { namespace, name }, finalizer);
      } catch (error) {
        if (run.signal.aborted) return;
        const level = isGoneOrReplaced(error) || isMissingOrForbidden(error) ? "debug" : "warn";
        run.log[level]("finalizer of the former operator not removed", { namespace, name, error: errorText(error) });
      }
    }
  }
}

async function free(
  { api, log, signal }: OperatorRun,
  operand: { readonly namespace: string; readonly name: string },
  finalizer: string,
): Promise<void> {
  const { metadata } = await api.get(Resource.deployments, operand, signal);
  const operations = dropFinalizer(metadata.finalizers ?? [], finalizer);
  if (operations.length === 0) return;
  await api.patch(Resource.deployments, operand, { body: { kind: "json", operations }, signal });
  log.info("finalizer of the former operator removed", { ...operand, finalizer });
}
