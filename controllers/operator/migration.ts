// What the Multiarch Tuning Operator leaves behind when Archway takes over: finalizers on its operand Deployments, which it
// alone would remove. Tried once by each new leader: the rights decide, which the manifests' component `migration` alone grants.
import { classifyWriteFailure, isForbidden, isNotFound } from "../../lib/k8s/errors.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Finalizer } from "../../lib/names.ts";
import type { OperatorRun } from "./deps.ts";
import { dropFinalizer } from "./uninstall_finalizers.ts";

const LEFT_BEHIND: readonly (readonly [deployment: string, finalizer: string])[] = [
  ["pod-placement-controller", Finalizer.podPlacement],
  ["enoexec-event-handler-controller", Finalizer.enoexecEvents],
];

/** Where the MTO is installed unless another namespace was chosen. */
const MTO_NAMESPACE = "openshift-multiarch-tuning-operator";

/** Frees the Deployments. Missing ones and missing rights are fine; never throws: Archway works without it. */
export async function releaseMtoOperands(run: OperatorRun): Promise<void> {
  for (const namespace of new Set([run.settings.namespace, MTO_NAMESPACE])) {
    for (const [name, finalizer] of LEFT_BEHIND) {
      try {
        await free(run, { namespace, name }, finalizer);
      } catch (error) {
        if (run.signal.aborted) return;
        const level = isNotFound(error) || isForbidden(error) ? "debug" : "warn";
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
  try {
    await api.patch(Resource.deployments, operand, { body: { kind: "json", operations }, signal });
    log.info("finalizer of the former operator removed", { ...operand, finalizer });
  } catch (error) {
    if (classifyWriteFailure(error) !== "gone") throw error;
  }
}
