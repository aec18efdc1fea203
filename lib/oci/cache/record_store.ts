// The records of images by digest, and digests by tag: in memory, and in a key-value store that is written in the
// background.
import { LRUCache } from "lru-cache";
import type * as z from "zod";
import type { Clock } from "../../clock.ts";
import { seal, unseal } from "../../kv/envelope.ts";
import { entryKey, type RecordKind } from "../../kv/keys.ts";
import { StoreBudget } from "../../kv/prune.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Readership } from "./readership.ts";
import { isDeepEnough, RECORD_VERSION, type TagRecord, TagSchema, weightOfRecord } from "./records.ts";
import { ImageRecord } from "../inspection.ts";
import { atMostWeighed, CACHE_SHARES, weightOfTexts } from "../cache_limits.ts";

/** The digest of a tag at a look-up. */
export interface KnownTag {
  readonly digest: string;
  /** When its look-up began (monotonic ms). The store has it as wall time, for other processes. */
  readonly lookupAtMs: number;
  /** Whether this process looked the tag up: then its age does not count time in which the machine was suspended. */
  readonly isOwn: boolean;
}

/** How long the store keeps tags (ms), well beyond their expiry: a HEAD may confirm the digest of an old tag. */
const TAG_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
const STORE_FACTOR = 10;
/** Most bytes in the store. A damaged file that is set aside doubles them, which must still fit into the volume. */
const MAX_STORED_BYTES = 100 * 1024 * 1024;

interface RecordName {
  readonly readership: Readership;
  readonly kind: RecordKind;
  readonly name: string;
}

export class RecordStore {
  readonly #stored: { readonly kv: KeyValueStore; readonly budget: StoreBudget } | undefined;
  readonly #clock: Clock;
  readonly #records: LRUCache<string, ImageRecord>;
  readonly #tags: LRUCache<string, KnownTag>;

  /** At most `maxEntries` records of images and as many tags are in memory, fewer when they weigh too much. */
  constructor({ kv, clock, maxEntries, maxStoredBytes = MAX_STORED_BYTES }: {
    readonly kv: KeyValueStore | undefined;
    readonly clock: Clock;
    readonly maxEntries: number;
    readonly maxStoredBytes?: number;
  }) {
    this.#clock = clock;
    const limits = { maxEntries: maxEntries * STORE_FACTOR, maxBytes: maxStoredBytes, clock };
    this.#stored = kv && { kv, budget: new StoreBudget(kv, limits) };
    const { records, tags } = CACHE_SHARES;
    this.#records = new LRUCache(atMostWeighed(maxEntries, { maxSize: records, weigh: weightOfRecord }));
    const weigh = ({ digest }: KnownTag, key: string): number => weightOfTexts(key, digest);
    this.#tags = new LRUCache(atMostWeighed(maxEntries, { maxSize: tags, weigh }));
  }

  size(): number {
    return this.#records.size;
  }

  recordInMemory(readershipId: number, digest: string): ImageRecord | undefined {
    return this.#records.get(memoryKey(readershipId, digest));
  }

  tagInMemory(readershipId: number, name: string): KnownTag | undefined {
    return this.#tags.get(memoryKey(readershipId, name));
  }

  readRecord(readership: Readership, digest: string): Promise<ImageRecord | undefined> {
    const name: RecordName = { readership, kind: "digest", name: digest };
    return this.#readInto(this.#records, name, { schema: ImageRecord, keptOf: (record) => record });
  }

  readTag(readership: Readership, name: string): Promise<KnownTag | undefined> {
    const keptOf = ({ digest, verifiedAtMs }: TagRecord): KnownTag => {
      const ageMs = this.#clock.nowMs() - verifiedAtMs;
      // A time in the future comes from another clock, so the age is unknown.
      return { digest, lookupAtMs: ageMs < 0 ? -Infinity : this.#clock.monotonicMs() - ageMs, isOwn: false };
    };
    return this.#readInto(this.#tags, { readership, kind: "tag", name }, { schema: TagSchema, keptOf });
  }

  putRecord(readership: Readership, record: ImageRecord): void {
    const key = memoryKey(readership.id, record.digest);
    // A record of an index alone does not replace one for which a config was read as well.
    const before = this.#records.peek(key);
    if (before !== undefined && isDeepEnough(before, "config") && !isDeepEnough(record, "config")) return;
    this.#records.set(key, record);
    void this.#write({ readership, kind: "digest", name: record.digest }, { value: record });
  }

  /** Keeps the digest that a tag had when this process looked it up, unless a later look-up is known. */
  putTag(readership: Readership, name: string, { digest, lookupAtMs }: Omit<KnownTag, "isOwn">): void {
    const key = memoryKey(readership.id, name);
    const before = this.#tags.peek(key);
    // Look-ups that overlap may end in another order than they began.
    if (before !== undefined && before.isOwn && before.lookupAtMs > lookupAtMs) return;
    this.#tags.set(key, { digest, lookupAtMs, isOwn: true });
    const verifiedAtMs = Math.floor(this.#clock.nowMs() - (this.#clock.monotonicMs() - lookupAtMs));
    const value: TagRecord = { digest, verifiedAtMs };
    void this.#write({ readership, kind: "tag", name }, { value, expireAtMs: verifiedAtMs + TAG_KEPT_MS });
  }

  /** Reads from memory, else from the store. Memory then keeps what the store gave. */
  async #readInto<S, T extends ImageRecord | KnownTag>(
    memory: LRUCache<string, T>,
    { kind, name, readership }: RecordName,
    { schema, keptOf }: { readonly schema: z.ZodType<S>; readonly keptOf: (stored: S) => T },
  ): Promise<T | undefined> {
    const key = memoryKey(readership.id, name);
    const known = memory.get(key);
    if (known !== undefined || this.#stored === undefined) return known;
    const { kv } = this.#stored;
    const sealed = await kv.get(entryKey(kind, [name, await readership.storedName(kv)]));
    const stored = unseal(sealed, { v: RECORD_VERSION, nowMs: this.#clock.nowMs(), schema });
    // A newer one may have come while the store was read.
    const newer = memory.get(key);
    if (stored === undefined || newer !== undefined) return newer;
    const kept = keptOf(stored);
    memory.set(key, kept);
    return kept;
  }

  async #write(
    { kind, name, readership }: RecordName,
    entry: { readonly value: unknown; readonly expireAtMs?: number },
  ): Promise<void> {
    if (this.#stored === undefined) return;
    const { kv, budget } = this.#stored;
    const { value, ...expiry } = entry;
    const sealed = seal(value, { v: RECORD_VERSION, atMs: this.#clock.nowMs(), ...expiry });
    if (budget.take(sealed)) await kv.set(entryKey(kind, [name, await readership.storedName(kv)]), sealed);
    await budget.restore();
  }
}

function memoryKey(readershipId: number, name: string): string {
  return JSON.stringify([readershipId, name]);
}
