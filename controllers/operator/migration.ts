// What the Multiarch Tuning Operator leaves behind when Archway takes over: finalizers on its operand Deployments, which
// nobody else would ever remove. Run once by each new leader with --migration. Source: operator §0, §2.7 step 7, §2.8 step 4.
import { ApiError, classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { pointer } from "../../lib/k8s/patch.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { Finalizer } from "../../lib/names.ts";
import type { OperatorDeps } from "./deps.ts";

const LEFT_BEHIND: readonly (readonly [deployment: string, finalizer: string])[] = [
  ["pod-placement-controller", Finalizer.podPlacement],
  ["enoexec-event-handler-controller", Finalizer.enoexecEvents],
];

/** Where the reference is installed unless someone chose another namespace. */
const REFERENCE_NAMESPACE = "openshift-multiarch-tuning-operator";

/** Frees the Deployments. Missing ones and missing rights are fine; never throws: Archway works without it. */
export async function releaseReferenceOperands(parts: OperatorDeps, signal: AbortSignal): Promise<void> {
  for (const namespace of new Set([parts.settings.namespace, REFERENCE_NAMESPACE])) {
    for (const [name, finalizer] of LEFT_BEHIND) {
      try {
        await dropFinalizer(parts, { namespace, name, finalizer, signal });
      } catch (error) {
        if (signal.aborted) return;
        const absent = error instanceof ApiError && (error.status === 404 || error.status === 403);
        const level = absent ? "debug" : "warn";
        parts.log[level]("finalizer of the former operator not removed", { namespace, name, error: errorText(error) });
      }
    }
  }
}

async function dropFinalizer(
  { api, log }: OperatorDeps,
  operand: {
    readonly namespace: string;
    readonly name: string;
    readonly finalizer: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { namespace, name, finalizer, signal } = operand;
  const { metadata } = await api.get(Resource.deployments, { namespace, name }, signal);
  const index = metadata.finalizers?.indexOf(finalizer) ?? -1;
  if (index < 0) return;
  const path = pointer("metadata", "finalizers", index);
  const operations = [{ op: "test", path, value: finalizer }, { op: "remove", path }] as const;
  try {
    await api.patch(Resource.deployments, { namespace, name }, { body: { kind: "json", operations }, signal });
    log.info("finalizer of the former operator removed", { namespace, name, finalizer });
  } catch (error) {
    if (classifyWriteFailure(error) !== "gone") throw error;
  }
}
