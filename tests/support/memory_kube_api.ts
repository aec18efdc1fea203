// KubeApi in memory, for tests that own time: objects with resourceVersions and conflicts, lists and watches by selection, no wire.
// A test changes objects as another client would, by put() and drop(), and puts faults in the way of calls.
import type { KubeApi, ListOptions, PatchBody } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { parseKubeObject } from "../../lib/k8s/kube_object.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { type KubeObject, resourcePath, type ResourceTarget, type ResourceType } from "../../lib/k8s/types.ts";
import { applyJsonPatch, mergePatch } from "../../playground/patches.ts";
import { MemoryWatches, selects } from "./memory_watches.ts";

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
  /** By path. A change of the map itself is one that no watch shows. */
  readonly objects = new Map<string, KubeObject>();
  /** Called ahead of each JSON patch: what it throws is the answer, what it changes the patch meets. */
  beforePatch: (operations: JsonPatch) => Promise<void> | void = () => {};
  /** The JSON patches that applied. */
  readonly patches: JsonPatch[] = [];
  /** Each list as `plural namespace?fieldSelector`. */
  readonly lists: string[] = [];
  /** Plurals of the kinds that the API server does not have. */
  readonly missing = new Set<string>();
  /** A client without faults. */
  readonly api: KubeApi = this.client();
  readonly #watches = new MemoryWatches();
  #version = 0;

  /** Creates or changes an object; watches show it. */
  put(type: ResourceType, object: KubeObject): void {
    this.#store(type, targetOf(object), object);
  }

  /** Creates an object that no watch shows, as after a restore of the server's data; lists have it. */
  putUnseen(type: ResourceType, object: KubeObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.objects.set(resourcePath(type, targetOf(object)), { ...object, metadata });
  }

  /** Takes away the object `namespace/name`, or `name`. */
  drop(type: ResourceType, key: string): void {
    this.#remove(type, targetOfKey(key));
  }

  /** The object of a kind by `namespace/name`, or `name`. */
  find(plural: string, key: string): KubeObject | undefined {
    const { namespace, name } = targetOfKey(key);
    const end = namespace === undefined ? `/${plural}/${name}` : `/namespaces/${namespace}/${plural}/${name}`;
    return this.objects.entries().find(([path]) => path.endsWith(end))?.[1];
  }

  /** A client; `before` runs ahead of every call of it and may throw. */
  client(before: (call: MemoryCall) => Promise<void> | void = () => {}): KubeApi {
    return {
      get: async (type, target, signal) => {
        await before(callOf("get", { type, target, signal }));
        return this.#known(type, target);
      },
      list: async (type, options, signal) => {
        await before(callOf("list", { type, target: {}, signal, body: options }));
        return this.#list(type, options);
      },
      watch: (type, options, signal) =>
        this.#watches.follow(type.plural, {
          selection: options,
          signal,
          before: () => before(callOf("watch", { type, target: {}, signal, body: options })),
        }),
      create: async (type, object, { signal, ...target }) => {
        const name: unknown = Reflect.get(Object(object["metadata"]), "name");
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
      patch: async (type, target, { body, signal, isDryRun = false }) => {
        await before(callOf("patch", { type, target, signal, body }));
        if (isDryRun) return this.#tryPatch(type, target, body);
        const whole = target.subresource === "status" ? withoutSubresource(target) : target;
        return body.kind === "json" ? await this.#patch(type, whole, body.operations) : this.#merge(type, whole, body);
      },
      delete: async (type, target, { signal }) => {
        await before(callOf("delete", { type, target, signal }));
        this.#remove(type, target);
      },
      raw: () => Promise.reject(notFound()),
      serverClockOffsetMs: () => 0,
    };
  }

  #list(type: ResourceType, options: ListOptions): { readonly items: KubeObject[]; readonly resourceVersion: string } {
    if (this.missing.has(type.plural)) throw new ApiError("no such kind", { status: 404 });
    this.lists.push(`${type.plural} ${options.namespace ?? ""}?${options.fieldSelector ?? ""}`);
    const root = resourcePath({ ...type, plural: "" }).slice(0, -1);
    const isOfKind = (path: string): boolean => path.startsWith(`${root}/`) && path.split("/").at(-2) === type.plural;
    const items = [...this.objects].filter(([path, object]) => isOfKind(path) && selects(options, object));
    return { items: items.map(([, object]) => object), resourceVersion: String(this.#version) };
  }

  async #patch(type: ResourceType, target: ResourceTarget, operations: JsonPatch): Promise<KubeObject> {
    await this.beforePatch(operations);
    const next = patched(this.#known(type, target), operations);
    this.patches.push(operations);
    return this.#store(type, target, next);
  }

  /** Applies it to a copy: nothing is stored, and no watch shows it. */
  #tryPatch(type: ResourceType, target: ResourceTarget, body: PatchBody): KubeObject {
    if (body.kind !== "json") throw new Error("Cannot try a patch of this kind.");
    return patched(this.#known(type, target), body.operations);
  }

  /** A merge patch, or an apply of whole members; one that changes nothing writes nothing. */
  #merge(type: ResourceType, target: ResourceTarget, body: Exclude<PatchBody, { readonly kind: "json" }>): KubeObject {
    const known = this.objects.get(resourcePath(type, target));
    if (known === undefined && body.kind === "merge") throw notFound();
    const { metadata, ...given } = Object(body.document);
    const merged = Object.entries(given).map(([name, value]) => [name, mergePatch(known?.[name], value)]);
    const members = body.kind === "merge" ? Object.fromEntries(merged) : given;
    const isSame = (name: string): boolean => JSON.stringify(known?.[name]) === JSON.stringify(members[name]);
    if (known !== undefined && Object.keys(members).every(isSame)) return known;
    return this.#store(type, target, { ...known ?? { metadata }, ...members });
  }

  #known(type: ResourceType, target: ResourceTarget): KubeObject {
    const object = this.objects.get(resourcePath(type, target));
    if (object === undefined) throw notFound();
    return object;
  }

  #store(type: ResourceType, target: ResourceTarget, object: Readonly<Record<string, unknown>>): KubeObject {
    const path = resourcePath(type, target);
    const before = this.objects.get(path);
    const metadata = {
      ...Object(object["metadata"]),
      name: target.name ?? "",
      resourceVersion: String(++this.#version),
    };
    const stored: KubeObject = { ...object, metadata };
    this.objects.set(path, stored);
    this.#watches.show(type.plural, { before, now: stored });
    return stored;
  }

  #remove(type: ResourceType, target: ResourceTarget): void {
    const object = this.#known(type, target);
    this.objects.delete(resourcePath(type, target));
    this.#watches.show(type.plural, { before: object, now: undefined });
  }
}

/** A fault of a client: these calls, or all, are answered with that status. */
export function refusing(
  status: number,
  isMeant: (call: MemoryCall) => boolean = () => true,
): (call: MemoryCall) => void {
  return (call) => {
    if (isMeant(call)) throw new ApiError("away", { status });
  };
}

function withoutSubresource({ subresource: _, ...target }: ResourceTarget): ResourceTarget {
  return target;
}

function targetOf({ metadata: { name, namespace } }: KubeObject): ResourceTarget {
  return namespace === undefined ? { name } : { name, namespace };
}

function targetOfKey(key: string): ResourceTarget {
  const [namespace, name] = key.split("/");
  return name === undefined ? { name: namespace ?? "" } : { namespace: namespace ?? "", name };
}

/** The object after a JSON patch; a failed `test` is answered as the API server does, without causes. */
function patched(object: KubeObject, operations: JsonPatch): KubeObject {
  try {
    return parseKubeObject(applyJsonPatch(object, operations));
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
