// The patches that the API server takes: JSON Patch (RFC 6902), by the library, and JSON Merge Patch (RFC 7386). Pure.
import fastJsonPatch from "fast-json-patch";
import { isObject } from "../lib/json.ts";
import { badRequest, unapplicablePatch } from "./status_error.ts";

/** The document after all operations. Throws StatusError: 400 for what is no patch, 422 where one does not apply. */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch) || fastJsonPatch.validate(patch) !== undefined) {
    throw badRequest("the body is no list of JSON Patch operations");
  }
  try {
    return fastJsonPatch.applyPatch(document, patch, true, false).newDocument;
  } catch {
    throw unapplicablePatch();
  }
}

/** The target after a merge patch: null removes, objects merge, all else replaces. Strategic directives are ignored. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isObject(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || name.startsWith("$")) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}
