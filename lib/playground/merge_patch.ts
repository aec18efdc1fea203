// JSON Merge Patch (RFC 7386) and the playground's strategic merge: the same plus lists merged by their key.
import { isObject, textAt } from "./json_value.ts";

/** The target after a merge patch: null removes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** The lists that Kubernetes merges item by item, and the member that is their key. All others are replaced. */
const LIST_KEYS: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  volumes: "name",
  env: "name",
  imagePullSecrets: "name",
  schedulingGates: "name",
  webhooks: "name",
  conditions: "type",
  ownerReferences: "uid",
};

/**
 * The target after a strategic merge patch, simplified: lists of {@link LIST_KEYS} merge by key, `$patch: delete`
 * removes an item, other `$` directives are ignored. Also stands in for server-side apply: no field ownership is kept.
 */
export function strategicMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith("$")) continue;
    const key = LIST_KEYS[name];
    if (value === null) delete merged[name];
    else if (key !== undefined && Array.isArray(value)) merged[name] = mergeList(merged[name], value, { key });
    else merged[name] = strategicMergePatch(merged[name], value);
  }
  return merged;
}

function mergeList(
  target: unknown,
  patch: readonly unknown[],
  options: { readonly key: string },
): readonly unknown[] {
  const merged: unknown[] = Array.isArray(target) ? [...target] : [];
  for (const item of patch) {
    const id = textAt(item, options.key);
    const index = merged.findIndex((each) => id !== undefined && textAt(each, options.key) === id);
    if (isObject(item) && item.$patch === "delete") {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) merged[index] = strategicMergePatch(merged[index], item);
    else merged.push(strategicMergePatch(undefined, item));
  }
  return merged;
}
