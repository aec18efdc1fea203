// Keeps Archway's own account and the role that leaving takes until it has left, by a finalizer on each. An uninstall that
// deletes everything at once would otherwise take the rights first, and strand webhook, gates and finalizers.
import { isForbidden, isNotFound } from "../../lib/k8s/errors.ts";
import { type KubeObject, Resource, type ResourceTarget, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Installation, UNINSTALL_FINALIZER } from "../../lib/names.ts";
import type { InstallationState } from "../../lib/operator/decide/operand_step.ts";
import type { OperatorRun } from "./deps.ts";
import { ownFinalizers } from "./finalizers.ts";

/** How the installation stands. That it is being deleted is kept: one that is created later is another installation. */
export async function readInstallation({ api, settings, memory, signal }: OperatorRun): Promise<InstallationState> {
  if (memory.ending !== undefined) return memory.ending;
  const target = { namespace: settings.namespace, name: Installation.serviceAccount };
  try {
    const state = stateOf(await api.get(Resource.serviceAccounts, target, signal));
    if (state === "uninstalling") memory.ending = state;
    return state === "free" && memory.finalizersRefused ? "foreign" : state;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return "foreign";
    throw error;
  }
}

/** Whether the namespace is being deleted: its account and its pods follow, in no particular order. */
export async function isNamespaceEnding({ api, settings, signal }: OperatorRun): Promise<boolean> {
  const { metadata } = await api.get(Resource.namespaces, { name: settings.namespace }, signal);
  return metadata.deletionTimestamp !== undefined;
}

function stateOf({ metadata }: KubeObject): "free" | "held" | "uninstalling" {
  if (metadata.deletionTimestamp !== undefined) return "uninstalling";
  return metadata.finalizers?.includes(UNINSTALL_FINALIZER) ? "held" : "free";
}

/** By then the API server has judged a request whose head it has, also a busy one (ms). */
const JUDGED_MS = 2_000;

/**
 * Puts the finalizer on all three objects, or takes it away. Each is needed for the right to change the others, and goes as
 * soon as its finalizer does: so the heads of all three requests are sent first, and what they ask once all are permitted.
 */
export async function setUninstallFinalizers(run: OperatorRun, wanted: "held" | "free"): Promise<void> {
  const { clock, log, settings: { namespace }, memory, signal } = run;
  const account = { namespace, name: Installation.serviceAccount };
  const targets: readonly (readonly [ResourceType, ResourceTarget])[] = [
    [Resource.serviceAccounts, account],
    [Resource.clusterRoles, { name: Installation.uninstallRole }],
    [Resource.clusterRoleBindings, { name: Installation.uninstallRole }],
  ];
  const holdBack = wanted === "free" ? clock.sleep(JUDGED_MS, signal) : undefined;
  const finalizers = wanted === "held" ? [UNINSTALL_FINALIZER] : [];
  const results = await Promise.allSettled(
    targets.map(([type, target]) => ownFinalizers({ ...run, holdBack }, type, target, finalizers)),
  );
  const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  const fault = refused.find((reason) => !isForbidden(reason) && !isNotFound(reason));
  // What may go better next time is tried again: an object that stays held is stuck for ever.
  if (fault !== undefined && wanted === "free") throw fault;
  if (memory.ending !== undefined) memory.ending = "left";
  if (refused.length === 0) return log.info("own account and role", { state: wanted });
  memory.finalizersRefused = true;
  log.warn("own account and role not held or let go", { state: wanted, error: errorText(refused[0]) });
}
