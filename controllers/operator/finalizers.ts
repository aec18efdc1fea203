// Finalizers of objects that are not ours otherwise: one is removed, or put on an object, and nothing else of it changes.
import { type JsonPatch, pointer } from "../../lib/k8s/patch.ts";
import { apiVersionOf, type KubeObject, type ResourceTarget, type ResourceType } from "../../lib/k8s/types.ts";

/** Removes it if it is still where it was read; nothing to do when it is not among them. */
export function dropFinalizer(finalizers: readonly string[], finalizer: string): JsonPatch {
  const index = finalizers.indexOf(finalizer);
  if (index < 0) return [];
  const path = pointer("metadata", "finalizers", index);
  return [{ op: "test", path, value: finalizer }, { op: "remove", path }];
}

/** To be applied: these finalizers are all that we own of the object, so one that is not among them goes. */
export function renderFinalizers(
  type: ResourceType,
  { namespace, name = "" }: ResourceTarget,
  finalizers: readonly string[],
): KubeObject {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
  };
}
