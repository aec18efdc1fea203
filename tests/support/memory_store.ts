// A store of a test's own, that is lost with the process.
import { storedBytes } from "../../lib/kv/envelope.ts";
import type { KeyValueStore, StoreEntry, StoreKey } from "../../lib/kv/store.ts";

interface Held {
  readonly key: StoreKey;
  readonly text: string;
}

/** Opens an empty store; it never faults. */
export function openMemoryStore(): KeyValueStore {
  const entries = new Map<string, Held>();
  const nameOf = (key: StoreKey): string => JSON.stringify(key);
  const hold = (key: StoreKey, value: unknown): Promise<boolean> => {
    entries.set(nameOf(key), { key: [...key], text: JSON.stringify(value) });
    return Promise.resolve(true);
  };

  async function* list(prefix: StoreKey): AsyncIterable<StoreEntry> {
    const below = [...entries.values()].filter(({ key }) => startsWith(key, prefix)).sort(byKey);
    for (const { key, text } of below) {
      yield await Promise.resolve({ key, value: JSON.parse(text), bytes: storedBytes(text) });
    }
  }

  return {
    get: (key) => {
      const held = entries.get(nameOf(key));
      return Promise.resolve(held === undefined ? undefined : JSON.parse(held.text));
    },
    set: hold,
    create: (key, value) => entries.has(nameOf(key)) ? Promise.resolve(false) : hold(key, value),
    delete: (key) => {
      entries.delete(nameOf(key));
      return Promise.resolve(true);
    },
    list,
    cutListingCount: () => 0,
    faultCount: () => 0,
    close: () => Promise.resolve(),
  };
}

/** A prefix is shorter than the key and equal as far as it goes. */
function startsWith(key: StoreKey, prefix: StoreKey): boolean {
  return key.length > prefix.length && prefix.every((part, at) => part === key[at]);
}

/** Text before numbers, as Deno KV orders them. */
function byKey({ key: left }: Held, { key: right }: Held): number {
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (typeof part !== typeof other) return typeof part === "string" ? -1 : 1;
    if (part !== other) return part < other ? -1 : 1;
  }
  return left.length - right.length;
}
