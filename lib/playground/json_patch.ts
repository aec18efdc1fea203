// RFC 6902 JSON Patch applied to a value as the API server applies it, all or nothing; the input is never changed.
//
// The operations are the library's, but for `test`: the API server compares numbers and strings by their bytes, the patch's
// own against those that Go writes for the object. Hence a patch comes as text.
import fastJsonPatch, { type Operation } from "fast-json-patch";
import { renderJsonBody } from "../k8s/json_body.ts";
import { isObject, textAt, valueAt } from "./json_value.ts";

/** Why a patch was not applied: it is no patch at all, or the document does not allow it. */
export class JsonPatchError extends Error {
  /** Distinguishes it from other errors in logs. */
  override readonly name = "JsonPatchError";
  /** `malformed`: not RFC 6902. `unapplicable`: a `test` failed or a path does not exist. */
  readonly problem: "malformed" | "unapplicable";

  /** `message` is for people and names the path. */
  constructor(problem: "malformed" | "unapplicable", message: string) {
    super(message);
    this.problem = problem;
  }
}

/** What the library says of a patch that is none, whatever the document. */
const MALFORMED: ReadonlySet<string> = new Set([
  "OPERATION_NOT_AN_OBJECT",
  "OPERATION_OP_INVALID",
  "OPERATION_PATH_INVALID",
  "OPERATION_FROM_REQUIRED",
  "OPERATION_VALUE_REQUIRED",
]);

/** The document after all operations of a patch, in order. Throws {@link JsonPatchError}. */
export function applyJsonPatch(document: unknown, patchText: string): unknown {
  const operations = parseList(patchText);
  const sources = parseList(patchText, sourceOf);
  let current: unknown = JSON.parse(JSON.stringify(document));
  operations.forEach((operation, index) => {
    check(operation, index);
    if (operation.op !== "test") current = applyOne(current, operation);
    else if (!isSame(readAt(current, operation.path), valueAt(sources[index], "value"))) {
      throw new JsonPatchError("unapplicable", `Cannot apply JSON Patch: the test of "${operation.path}" failed.`);
    }
  });
  return current;
}

function parseList(text: string, reviver?: typeof sourceOf): readonly Operation[] {
  try {
    const list: unknown = JSON.parse(text, reviver);
    if (Array.isArray(list)) return list;
  } catch {
    throw new JsonPatchError("malformed", "Cannot apply JSON Patch: it is not JSON.");
  }
  throw new JsonPatchError("malformed", "Cannot apply JSON Patch: it is not a list.");
}

/** Gives numbers, strings, booleans and null as the text that they were written in. */
function sourceOf(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return context?.source ?? value;
}

function check(operation: Operation, index: number): void {
  try {
    fastJsonPatch.validator(operation, index);
  } catch (error) {
    throw problemOf(error, operation);
  }
}

function applyOne(document: unknown, operation: Operation): unknown {
  try {
    return fastJsonPatch.applyOperation(document, operation, true).newDocument;
  } catch (error) {
    throw problemOf(error, operation);
  }
}

function problemOf(error: unknown, operation: unknown): JsonPatchError {
  const name = error instanceof Error ? error.name : "";
  const path = textAt(operation, "path") ?? "";
  return new JsonPatchError(
    MALFORMED.has(name) ? "malformed" : "unapplicable",
    `Cannot apply JSON Patch operation on "${path}": ${name}.`,
  );
}

function readAt(document: unknown, path: string): unknown {
  return valueAt(document, ...path.split("/").slice(1).map(fastJsonPatch.unescapePathComponent));
}

/** Whether a value of the document is, written by Go, what the patch has in its text. Members may have another order. */
function isSame(held: unknown, source: unknown): boolean {
  if (Array.isArray(held)) {
    return Array.isArray(source) && held.length === source.length &&
      held.every((item, index) => isSame(item, source[index]));
  }
  if (isObject(held)) {
    const names = Object.keys(held);
    return isObject(source) && names.length === Object.keys(source).length &&
      names.every((name) => Object.hasOwn(source, name) && isSame(held[name], source[name]));
  }
  return held !== undefined && renderJsonBody(held) === source;
}
