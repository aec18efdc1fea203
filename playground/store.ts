// The objects of the playground's cluster: kept in memory under one growing resourceVersion, with a history for
// watches.
import { apiVersionOf, keyOf, type KubeObject, type ResourceType } from "../lib/k8s/types.ts";

/** One write. `previous` is what it replaced: watches with a selector need both. */
export interface StoreChange {
  readonly kind: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly type: ResourceType;
  /** The new form; for a removal the last one. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** Stored objects are never changed in place: holding one is holding a version of it. */
export class ObjectStore {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #historyLimit: number;
  /** A listener may write: the events that it causes follow the current one, in the same order for every listener. */
  readonly #undelivered: StoreChange[] = [];
  #delivering = false;
  readonly #history: StoreChange[] = [];
  #compactedVersion = 0;
  #version = 0;

  /** `historyLimit`: changes kept for watches; older resourceVersions are then expired (410). */
  constructor(options: { readonly historyLimit: number } = { historyLimit: 20_000 }) {
    this.#historyLimit = options.historyLimit;
  }

  get version(): number {
    return this.#version;
  }

  get(type: ResourceType, key: string): KubeObject | undefined {
    return this.#objects.get(storeKey(type))?.get(key);
  }

  list(type: ResourceType): readonly KubeObject[] {
    const entries = [...this.#objects.get(storeKey(type)) ?? []];
    return entries.sort(([left], [right]) => left < right ? -1 : left > right ? 1 : 0).map(([, object]) => object);
  }

  /** Writes an object under the next version and calls the listeners. Returns the stored form. */
  put(type: ResourceType, object: KubeObject): KubeObject {
    const kept = this.#objects.get(storeKey(type)) ?? new Map<string, KubeObject>();
    this.#objects.set(storeKey(type), kept);
    const previous = kept.get(keyOf(object));
    const stored = this.#stamp(type, object);
    kept.set(keyOf(object), stored);
    this.#record({
      kind: previous === undefined ? "ADDED" : "MODIFIED",
      version: this.#version,
      type,
      object: stored,
      previous,
    });
    return stored;
  }

  /** Removes an object; watches see its last form under a new version. */
  remove(type: ResourceType, key: string): KubeObject | undefined {
    const previous = this.get(type, key);
    if (previous === undefined) return undefined;
    this.#objects.get(storeKey(type))?.delete(key);
    const last = this.#stamp(type, previous);
    this.#record({ kind: "DELETED", version: this.#version, type, object: last, previous });
    return last;
  }

  /** The changes of a kind after a version; undefined when the history no longer reaches back that far. */
  changesSince(type: ResourceType, version: number): readonly StoreChange[] | undefined {
    if (version < this.#compactedVersion) return undefined;
    return this.#history.filter((change) => change.version > version && storeKey(change.type) === storeKey(type));
  }

  /** Calls the listener after every write, in order. Gives the function that ends it. */
  subscribe(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamp(type: ResourceType, object: KubeObject): KubeObject {
    this.#version += 1;
    return {
      ...object,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { ...object.metadata, resourceVersion: String(this.#version) },
    };
  }

  #record(change: StoreChange): void {
    this.#history.push(change);
    if (this.#history.length > this.#historyLimit * 1.25) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#compactedVersion = dropped.at(-1)?.version ?? this.#compactedVersion;
    }
    this.#undelivered.push(change);
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
        for (const listener of [...this.#listeners]) listener(next);
      }
    } finally {
      this.#delivering = false;
    }
  }
}

function storeKey(type: ResourceType): string {
  return `${type.group}/${type.plural}`;
}

/** Resolves at the first write after which the condition holds, or at once. Rejects with the signal's reason. */
export async function waitFor(store: ObjectStore, condition: () => boolean, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => reject(signal.reason);
  const unsubscribe = store.subscribe(() => {
    if (condition()) resolve();
  });
  signal.addEventListener("abort", abort);
  try {
    if (condition()) return;
    signal.throwIfAborted();
    await promise;
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", abort);
  }
}
