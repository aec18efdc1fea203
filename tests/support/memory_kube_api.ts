// KubeApi in memory, for tests that own time: objects with resourceVersions and conflicts, no wire. Faults are put in the way.
import type { KubeApi, RawWatchEvent } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import { renderJsonBody } from "../../lib/k8s/json_body.ts";
import { parseKubeObject } from "../../lib/k8s/kube_object.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { applyJsonPatch } from "../../lib/playground/json_patch.ts";
import { type KubeObject, resourcePath, type ResourceTarget, type ResourceType } from "../../lib/k8s/types.ts";

/** A call as a test sees it before it is carried out. Throwing, or never answering, is the fault. */
export interface MemoryCall {
  readonly verb: "get" | "list" | "watch" | "create" | "replace" | "patch" | "delete";
  readonly plural: string;
  readonly name: string | undefined;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** A server of its own, or several clients' view of one: each client has its own faults. */
export class MemoryCluster {
  readonly objects = new Map<string, KubeObject>();
  #version = 0;

  /** A client; `before` runs ahead of every call of it and may throw. */
  client(before: (call: MemoryCall) => Promise<void> | void = () => {}): KubeApi {
    return {
      get: async (type, target, signal) => {
        await before(callOf("get", { type, target, signal }));
        return this.#known(type, target);
      },
      list: async (type, options, signal) => {
        await before(callOf("list", { type, target: {}, signal, body: options }));
        const prefix = resourcePath(type, options.namespace === undefined ? {} : { namespace: options.namespace });
        const items = [...this.objects].filter(([path]) => path.startsWith(prefix)).map(([, object]) => object);
        return { items, resourceVersion: String(this.#version) };
      },
      watch: (type, options, signal) =>
        silentWatch(() => before(callOf("watch", { type, target: {}, signal, body: options })), signal),
      create: async (type, object, { signal, ...target }) => {
        const metadata: unknown = object["metadata"];
        const name: unknown = Reflect.get(Object(metadata), "name");
        const named = { ...target, name: String(name) };
        await before(callOf("create", { type, target: named, signal, body: object }));
        if (this.objects.has(resourcePath(type, named))) {
          throw new ApiError("exists", { status: 409, reason: "AlreadyExists" });
        }
        return this.#store(type, named, object);
      },
      replace: async (type, object, { signal, ...target }) => {
        await before(callOf("replace", { type, target, signal, body: object }));
        const known = this.#known(type, target);
        const wanted: unknown = Reflect.get(Object(object["metadata"]), "resourceVersion");
        if (wanted !== undefined && wanted !== known.metadata.resourceVersion) {
          throw new ApiError("stale", { status: 409, reason: "Conflict" });
        }
        return this.#store(type, target, object);
      },
      patch: async (type, target, { body, signal }) => {
        await before(callOf("patch", { type, target, signal, body }));
        if (body.kind === "json") {
          return this.#store(type, target, patched(this.#known(type, target), body.operations));
        }
        const known = this.objects.get(resourcePath(type, target));
        if (known === undefined && body.kind === "merge") throw notFound();
        const { metadata: _metadata, ...members } = Object(body.document);
        const isSame = (name: string): boolean => JSON.stringify(known?.[name]) === JSON.stringify(members[name]);
        if (known !== undefined && Object.keys(members).every(isSame)) return known;
        return this.#store(type, target, { ...known, ...members });
      },
      delete: async (type, target, { signal }) => {
        await before(callOf("delete", { type, target, signal }));
        this.#known(type, target);
        this.objects.delete(resourcePath(type, target));
      },
      raw: () => Promise.reject(notFound()),
      serverClockOffsetMs: () => 0,
    };
  }

  #known(type: ResourceType, target: ResourceTarget): KubeObject {
    const object = this.objects.get(resourcePath(type, target));
    if (object === undefined) throw notFound();
    return object;
  }

  #store(type: ResourceType, target: ResourceTarget, object: Readonly<Record<string, unknown>>): KubeObject {
    const given: unknown = object["metadata"];
    const metadata = { ...Object(given), name: target.name ?? "", resourceVersion: String(++this.#version) };
    const stored: KubeObject = { ...object, metadata };
    this.objects.set(resourcePath(type, target), stored);
    return stored;
  }
}

/** The object after a JSON patch; a failed `test` is answered as the API server does, without causes. */
function patched(object: KubeObject, operations: JsonPatch): KubeObject {
  try {
    return parseKubeObject(applyJsonPatch(object, renderJsonBody(operations)));
  } catch (cause) {
    throw new ApiError("the patch does not apply", { status: 422, cause });
  }
}

function notFound(): ApiError {
  return new ApiError("no such object", { status: 404, reason: "NotFound" });
}

function callOf(
  verb: MemoryCall["verb"],
  of: {
    readonly type: ResourceType;
    readonly target: ResourceTarget;
    readonly signal: AbortSignal;
    readonly body?: unknown;
  },
): MemoryCall {
  return { verb, plural: of.type.plural, name: of.target.name, body: of.body, signal: of.signal };
}

/** A watch on which nothing happens until it is aborted. */
async function* silentWatch(
  before: () => Promise<void> | void,
  signal: AbortSignal,
): AsyncGenerator<RawWatchEvent, void> {
  await before();
  signal.throwIfAborted();
  yield* [];
  await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
