// Removing one finalizer, and nothing else.
import { type JsonPatch, pointer } from "../../lib/k8s/patch.ts";

/** Removes it if it is still where it was read; nothing to do when it is not among them. */
export function dropFinalizer(finalizers: readonly string[], finalizer: string): JsonPatch {
  const index = finalizers.indexOf(finalizer);
  if (index < 0) return [];
  const path = pointer("metadata", "finalizers", index);
  return [{ op: "test", path, value: finalizer }, { op: "remove", path }];
}
