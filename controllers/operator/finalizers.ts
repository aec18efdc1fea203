// Finalizers of objects that are not ours otherwise: one is removed, or put on an object, and nothing else of it changes.
import { type JsonPatch, pointer } from "../../lib/k8s/patch.ts";
import type { KubeApi, PatchOptions } from "../../lib/k8s/api.ts";
import { apiVersionOf, type ResourceTarget, type ResourceType } from "../../lib/k8s/types.ts";

/** Removes it if it is still where it was read; nothing to do when it is not among them. */
export function dropFinalizer(finalizers: readonly string[], finalizer: string): JsonPatch {
  const index = finalizers.indexOf(finalizer);
  if (index < 0) return [];
  const path = pointer("metadata", "finalizers", index);
  return [{ op: "test", path, value: finalizer }, { op: "remove", path }];
}

/** Makes these finalizers all that we own of the object, so that one which is not among them goes. */
export async function ownFinalizers(
  { api, ...options }: { readonly api: KubeApi } & Pick<PatchOptions, "signal" | "holdBack">,
  type: ResourceType,
  target: ResourceTarget,
  finalizers: readonly string[],
): Promise<void> {
  const metadata = { ...target, finalizers: finalizers.length === 0 ? undefined : finalizers };
  const document = { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  await api.patch(type, target, { body: { kind: "apply", document, force: true }, ...options });
}
