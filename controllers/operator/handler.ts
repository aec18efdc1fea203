// Keeps Archway's own Deployment while daemons write ENoExecEvents, by the MTO's finalizer: its leader handles them, and is to
// outlast them. A Deployment that is being deleted for another reason is released at once, so that none is stuck.
import { isForbidden, isNotFound } from "../../lib/k8s/errors.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Finalizer, Installation } from "../../lib/names.ts";
import type { HandlerState, InstallationState } from "../../lib/operator/decide/operand_step.ts";
import type { OperatorRun } from "./deps.ts";
import { ownFinalizers } from "./finalizers.ts";

/** The state of the Deployment. While Archway is being uninstalled it may no longer be read, and counts as held until it was released. */
export async function readHandler(
  { api, settings: { namespace }, memory, signal }: OperatorRun,
  installation: InstallationState,
): Promise<HandlerState> {
  if (memory.handlerRefused) return "foreign";
  if (installation === "uninstalling") return memory.handlerLetGo ? "foreign" : "held";
  const wanted = { type: Resource.deployments, namespace, name: Installation.deployment, signal };
  try {
    return stateOf(await readOptional(api, wanted));
  } catch (error) {
    if (isForbidden(error)) return "foreign";
    throw error;
  }
}

function stateOf(deployment: KubeObject | undefined): HandlerState {
  if (deployment === undefined) return "foreign";
  const { finalizers, deletionTimestamp } = deployment.metadata;
  const isHeld = finalizers?.includes(Finalizer.enoexecEvents) === true;
  if (deletionTimestamp !== undefined) return isHeld ? "leaving" : "foreign";
  return isHeld ? "held" : "free";
}

/** Puts the finalizer on the Deployment, or takes it away. One that is not ours to change is left as it is. */
export async function setHandler(run: OperatorRun, wanted: "held" | "free"): Promise<void> {
  const { log, settings: { namespace }, memory } = run;
  const target = { namespace, name: Installation.deployment };
  try {
    await ownFinalizers(run, Resource.deployments, target, wanted === "held" ? [Finalizer.enoexecEvents] : []);
    log.info("own deployment", { state: wanted });
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
    memory.handlerRefused = true;
    log.debug("own deployment not held or let go", { state: wanted, error: errorText(error) });
  }
  memory.handlerLetGo = wanted === "free";
}
