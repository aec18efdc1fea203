// KubeApi of controllers under test: collections that can be listed and watched, changed by the test alone. No wire, no time.
import type { KubeApi, ListOptions, RawWatchEvent } from "../../lib/k8s/api.ts";
import { renderJsonBody } from "../../lib/k8s/json_body.ts";
import { parseKubeObject } from "../../lib/k8s/kube_object.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import { keyOf, type KubeObject, type ResourceType } from "../../lib/k8s/types.ts";
import { applyJsonPatch } from "../../lib/playground/json_patch.ts";

interface Watcher {
  readonly selection: ListOptions;
  readonly events: RawWatchEvent[];
  wake: () => void;
}

/** Collections by their plural. What is put or dropped is seen by every watch whose selection it enters or leaves. */
export class WatchedApi {
  readonly #collections = new Map<string, Map<string, KubeObject>>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #missing = new Set<string>();
  #version = 0;
  /** Called ahead of each patch: what it throws is the answer, what it changes the patch meets. */
  beforePatch: (operations: JsonPatch) => Promise<void> | void = () => {};
  /** The patches that applied. */
  readonly patches: JsonPatch[] = [];
  /** Each list as `plural namespace?fieldSelector`. */
  readonly lists: string[] = [];

  /** Creates or changes an object. */
  put({ plural }: ResourceType, object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#of(plural).get(key);
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    const now: KubeObject = { ...object, metadata };
    this.#of(plural).set(key, now);
    this.#tell(plural, ({ selection }) => {
      const was = before !== undefined && matches(before, selection);
      if (matches(now, selection)) return { type: was ? "MODIFIED" : "ADDED", object: now };
      return was ? { type: "DELETED", object: now } : undefined;
    });
  }

  /** Creates an object that no watch shows, as after a restore of the server's data; lists have it. */
  putUnseen({ plural }: ResourceType, object: KubeObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.#of(plural).set(keyOf(object), { ...object, metadata });
  }

  drop({ plural }: ResourceType, key: string): void {
    const object = this.#of(plural).get(key);
    if (object === undefined) throw new Error(`Cannot drop "${plural} ${key}": it was never put.`);
    this.#of(plural).delete(key);
    this.#tell(plural, ({ selection }) => matches(object, selection) ? { type: "DELETED", object } : undefined);
  }

  find(plural: string, key: string): KubeObject | undefined {
    return this.#of(plural).get(key);
  }

  /** The API server does not know this kind. */
  withhold(plural: string): void {
    this.#missing.add(plural);
  }

  /** Now it does. */
  restore(plural: string): void {
    this.#missing.delete(plural);
  }

  readonly api: KubeApi = {
    get: ({ plural }, target) => {
      const object = this.find(plural, `${target.namespace}/${target.name}`);
      return object === undefined ? Promise.reject(notFound()) : Promise.resolve(object);
    },
    create: unexpected,
    replace: unexpected,
    patch: async (type, { namespace, name = "" }, { body }) => {
      if (body.kind !== "json") throw new Error("Cannot patch so here: only JSON patches are known.");
      await this.beforePatch(body.operations);
      const object = this.find(type.plural, `${namespace}/${name}`);
      if (object === undefined) throw notFound();
      const next = patched(object, body.operations);
      this.patches.push(body.operations);
      this.put(type, next);
      return object;
    },
    delete: unexpected,
    raw: unexpected,
    serverClockOffsetMs: () => 0,
    list: ({ plural }, options) => {
      if (this.#missing.has(plural)) return Promise.reject(new ApiError("no such kind", { status: 404 }));
      this.lists.push(`${plural} ${options.namespace ?? ""}?${options.fieldSelector ?? ""}`);
      const items = [...this.#of(plural).values()].filter((object) => matches(object, options));
      return Promise.resolve({ items, resourceVersion: String(this.#version) });
    },
    watch: ({ plural }, options, signal) => this.#watch(plural, options, signal),
  };

  async *#watch(plural: string, selection: ListOptions, signal: AbortSignal): AsyncGenerator<RawWatchEvent, void> {
    const watchers = this.#watchers.get(plural) ?? new Set();
    this.#watchers.set(plural, watchers);
    const watcher: Watcher = { selection, events: [], wake: () => {} };
    watchers.add(watcher);
    try {
      while (!signal.aborted) {
        const event = watcher.events.shift();
        if (event !== undefined) yield event;
        else {
          await new Promise<void>((resolve) => {
            watcher.wake = resolve;
            signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
      }
    } finally {
      watchers.delete(watcher);
    }
  }

  #of(plural: string): Map<string, KubeObject> {
    const collection = this.#collections.get(plural) ?? new Map<string, KubeObject>();
    this.#collections.set(plural, collection);
    return collection;
  }

  #tell(plural: string, eventFor: (watcher: Watcher) => RawWatchEvent | undefined): void {
    for (const watcher of this.#watchers.get(plural) ?? []) {
      const event = eventFor(watcher);
      if (event === undefined) continue;
      watcher.events.push(event);
      watcher.wake();
    }
  }
}

function matches(object: KubeObject, { namespace, fieldSelector, labelSelector }: ListOptions): boolean {
  const phase: unknown = Reflect.get(Object(object["status"]), "phase");
  const [labelKey = "", labelValue] = labelSelector?.split("=") ?? [];
  return (namespace === undefined || object.metadata.namespace === namespace) &&
    (fieldSelector === undefined ||
      [`status.phase=${String(phase)}`, `metadata.name=${object.metadata.name}`].includes(fieldSelector)) &&
    (labelSelector === undefined || object.metadata.labels?.[labelKey] === labelValue);
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

function unexpected(): Promise<never> {
  return Promise.reject(new Error("Cannot do this here: the controllers under test list, watch, get and patch."));
}
