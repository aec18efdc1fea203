// RFC 6902 JSON Patch applied to a value, all or nothing; the input is never changed. Used for PATCH and for webhooks.
import { isEqualJson, isObject, type JsonObject } from "./json_value.ts";

/** Why a patch was not applied: it is no patch at all, or the document does not allow it. */
export class JsonPatchError extends Error {
  /** Tells it from other errors in logs. */
  override readonly name = "JsonPatchError";
  /** `malformed`: not RFC 6902. `unapplicable`: a `test` failed or a path does not exist. */
  readonly problem: "malformed" | "unapplicable";

  /** `message` is for people and names the path. */
  constructor(problem: "malformed" | "unapplicable", message: string) {
    super(message);
    this.problem = problem;
  }
}

/** The document after all operations, in order. Throws {@link JsonPatchError}. */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new JsonPatchError("malformed", "Cannot apply JSON Patch: it is not a list.");
  return operations.reduce((value, operation) => applyOperation(value, operation), document);
}

function applyOperation(document: unknown, operation: unknown): unknown {
  if (!isObject(operation)) {
    throw new JsonPatchError("malformed", "Cannot apply JSON Patch: an operation is no object.");
  }
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case "add":
      return add(document, path, valueOf(operation));
    case "remove":
      return remove(document, path);
    case "replace":
      return replace(document, path, valueOf(operation));
    case "move": {
      const from = parsePointer(operation.from);
      if (from.length < path.length && from.every((step, index) => step === path[index])) throw missing(path);
      return add(remove(document, from), path, read(document, from));
    }
    case "copy":
      return add(document, path, read(document, parsePointer(operation.from)));
    case "test":
      if (isEqualJson(read(document, path), valueOf(operation))) return document;
      throw new JsonPatchError("unapplicable", `Cannot apply JSON Patch: the test of "/${path.join("/")}" failed.`);
    default:
      throw new JsonPatchError("malformed", `Cannot apply JSON Patch operation "${String(operation.op)}": unknown.`);
  }
}

function valueOf(operation: JsonObject): unknown {
  if (!Object.hasOwn(operation, "value")) {
    throw new JsonPatchError("malformed", "Cannot apply JSON Patch: an operation lacks its value.");
  }
  return operation.value;
}

function parsePointer(pointer: unknown): readonly string[] {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/")) {
    throw new JsonPatchError("malformed", `Cannot apply JSON Patch path "${String(pointer)}": it is no JSON Pointer.`);
  }
  return pointer.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function missing(path: readonly string[]): JsonPatchError {
  return new JsonPatchError("unapplicable", `Cannot apply JSON Patch: "/${path.join("/")}" does not exist.`);
}

function read(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const step of path) {
    if (Array.isArray(at)) at = at[position(at, step, { upTo: at.length - 1, path })];
    else if (isObject(at) && Object.hasOwn(at, step)) at = at[step];
    else throw missing(path);
  }
  return at;
}

function position(
  list: readonly unknown[],
  step: string,
  options: { readonly upTo: number; readonly path: readonly string[] },
): number {
  const index = step === "-" ? list.length : /^(0|[1-9]\d*)$/.test(step) ? Number(step) : NaN;
  if (Number.isNaN(index) || index > options.upTo) throw missing(options.path);
  return index;
}

/** Rebuilds the containers along a path and lets `change` make the last one. */
function rebuild(
  document: unknown,
  path: readonly string[],
  change: (container: unknown, last: string) => unknown,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) throw missing(path);
  if (rest.length === 0) return change(document, step);
  if (Array.isArray(document)) {
    const index = position(document, step, { upTo: document.length - 1, path });
    return document.with(index, rebuild(document[index], rest, change));
  }
  if (!isObject(document) || !Object.hasOwn(document, step)) throw missing(path);
  return { ...document, [step]: rebuild(document[step], rest, change) };
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return rebuild(document, path, (container, last) => {
    if (Array.isArray(container)) {
      return container.toSpliced(position(container, last, { upTo: container.length, path }), 0, value);
    }
    if (isObject(container)) return { ...container, [last]: value };
    throw missing(path);
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  return rebuild(document, path, (container, last) => {
    if (Array.isArray(container)) {
      return container.toSpliced(position(container, last, { upTo: container.length - 1, path }), 1);
    }
    if (!isObject(container) || !Object.hasOwn(container, last)) throw missing(path);
    const { [last]: _removed, ...rest } = container;
    return rest;
  });
}

function replace(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  read(document, path);
  return rebuild(document, path, (container, last) => {
    if (Array.isArray(container)) return container.with(Number(last), value);
    return isObject(container) ? { ...container, [last]: value } : container;
  });
}
