// Keeps Archway's own Deployment while daemons write ENoExecEvents, by the MTO's finalizer: its leader handles them, and is to
// outlast them. A Deployment that is being deleted for another reason is released at once, so that none is stuck.
import { isForbidden, isNotFound } from "../../lib/k8s/errors.ts";
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Finalizer, Installation } from "../../lib/names.ts";
import type { MonitorFacts } from "../../lib/operand/operand_step.ts";
import type { OperatorDeps } from "./deps.ts";
import { renderFinalizers } from "./finalizers.ts";
import type { Memory } from "./memory.ts";

/** The state of the Deployment. While Archway is being uninstalled it may no longer be read, and counts as held until it was released. */
export async function readHandler(
  { api, settings: { namespace } }: OperatorDeps,
  { memory, isUninstalling, signal }: {
    readonly memory: Memory;
    readonly isUninstalling: boolean;
    readonly signal: AbortSignal;
  },
): Promise<MonitorFacts["handler"]> {
  if (memory.handlerRefused) return "foreign";
  if (isUninstalling) return memory.handlerLetGo ? "foreign" : "held";
  const wanted = { type: Resource.deployments, namespace, name: Installation.deployment, signal };
  try {
    return stateOf(await readOptional(api, wanted));
  } catch (error) {
    if (isForbidden(error)) return "foreign";
    throw error;
  }
}

function stateOf(deployment: KubeObject | undefined): MonitorFacts["handler"] {
  if (deployment === undefined) return "foreign";
  const { finalizers, deletionTimestamp } = deployment.metadata;
  const isHeld = finalizers?.includes(Finalizer.enoexecEvents) === true;
  if (deletionTimestamp !== undefined) return isHeld ? "leaving" : "foreign";
  return isHeld ? "held" : "free";
}

/** Puts the finalizer on the Deployment, or takes it away. One that is not ours to change is left as it is. */
export async function setHandler(
  { api, log, settings: { namespace } }: OperatorDeps,
  wanted: "held" | "free",
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  const type = Resource.deployments;
  const target = { namespace, name: Installation.deployment };
  const document = renderFinalizers(type, target, wanted === "held" ? [Finalizer.enoexecEvents] : []);
  try {
    await api.patch(type, target, { body: { kind: "apply", document, force: true }, signal });
    log.info("own deployment", { state: wanted });
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
    memory.handlerRefused = true;
    log.debug("own deployment not held or let go", { state: wanted, error: errorText(error) });
  }
  memory.handlerLetGo = wanted === "free";
}

/** Watches the Deployment, so that one that is being deleted is released when that begins, and a new one is held. */
export function openHandlerWatch({ api, clock, log, settings }: OperatorDeps, onChange: () => void): Reflector<string> {
  return openReflector({
    api,
    resource: Resource.deployments,
    namespace: settings.namespace,
    fieldSelector: `metadata.name=${Installation.deployment}`,
    // Only that it is there, or on its way out, matters: the operator reads the object itself.
    parse: ({ metadata }) => metadata.deletionTimestamp ?? "",
    onChange: (change) => change.kind === "apply" && change.value !== change.previous ? onChange() : undefined,
    clock,
    log,
    name: "own deployment",
  });
}
