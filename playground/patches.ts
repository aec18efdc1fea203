// The patches that the API server takes: JSON Patch (RFC 6902) by the library, JSON Merge Patch (RFC 7386), and of Kubernetes'
// strategic merge what kubectl sends. None changes its input.
import fastJsonPatch, { type Operation } from "fast-json-patch";
import { isObject } from "../lib/json.ts";
import { textAt } from "./json_value.ts";
import { badRequest, unapplicablePatch } from "./status.ts";

/** The document after all operations, or none. Throws StatusError: 400 for what is no patch, 422 where it does not apply. */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!isJsonPatch(patch)) throw badRequest("the body is no list of JSON Patch operations");
  try {
    return fastJsonPatch.applyPatch(document, patch, true, false).newDocument;
  } catch {
    throw unapplicablePatch();
  }
}

function isJsonPatch(patch: unknown): patch is readonly Operation[] {
  return Array.isArray(patch) && fastJsonPatch.validate(patch) === undefined;
}

/** The lists that Kubernetes merges item by item, and the member that is their key. All others are replaced. */
export const STRATEGIC_KEYS: Readonly<Record<string, string>> = {
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
 * The target after a merge patch: null removes a member, objects merge, everything else replaces. With the keys of lists it
 * is a strategic merge: `$patch: delete` removes an item, other directives are ignored.
 */
export function mergePatch(target: unknown, patch: unknown, listKeys: Readonly<Record<string, string>> = {}): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith("$")) continue;
    const key = listKeys[name];
    if (value === null) delete merged[name];
    else if (key !== undefined && Array.isArray(value)) {
      merged[name] = value.reduce((list, item) => mergeItem(list, item, key), merged[name] ?? []);
    } else merged[name] = mergePatch(merged[name], value, listKeys);
  }
  return merged;
}

function mergeItem(list: readonly unknown[], item: unknown, key: string): readonly unknown[] {
  const at = list.findIndex((each) => textAt(each, key) === textAt(item, key));
  const isDeleted = textAt(item, "$patch") === "delete";
  if (at < 0) return isDeleted ? list : [...list, mergePatch(undefined, item, STRATEGIC_KEYS)];
  return isDeleted ? list.toSpliced(at, 1) : list.with(at, mergePatch(list[at], item, STRATEGIC_KEYS));
}
