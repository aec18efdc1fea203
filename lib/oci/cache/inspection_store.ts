// What is known of images: memory in front, the store behind. Reads fall through once; writes go to both, the store's in the
// background. Used by cached.ts.
import { LRUCache } from "lru-cache";
import type * as z from "zod";
import type { Clock } from "../../clock.ts";
import { seal, unseal } from "../../kv/envelope.ts";
import { entryKey, type EntryKind } from "../../kv/keys.ts";
import { prune } from "../../kv/prune.ts";
import type { JsonValue, KeyValueStore } from "../../kv/store.ts";
import {
  type DocumentRecord,
  DocumentSchema,
  documentToJson,
  isDeepEnough,
  RECORD_VERSION,
  type TagRecord,
  TagSchema,
} from "./records.ts";
import type { AccessScope } from "./access_scope.ts";

/** The two-level memory. No call rejects. */
export interface InspectionStore {
  /** What a digest stands for. */
  document(scope: AccessScope, digest: string): Promise<DocumentRecord | undefined>;
  /** Where a tag pointed. */
  tag(scope: AccessScope, name: string): Promise<TagRecord | undefined>;
  /** Keeps a document for good. */
  learnDocument(scope: AccessScope, record: DocumentRecord): void;
  /** Keeps where a tag points. */
  putTag(scope: AccessScope, name: string, record: TagRecord): void;
  /** Documents in memory. */
  size(): number;
}

/** Tags are kept in the store well beyond their life: an old one tells which digest a HEAD may confirm (ms). */
const TAG_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
/** The store may hold this many times what the memory does; it is cut back after so many writes. */
const STORE_FACTOR = 10;
const WRITES_BETWEEN_PRUNES = 1_000;
/** Platforms that a document has on average at most: few have ten, a hostile one may have a thousand. */
const PLATFORMS_A_DOCUMENT = 32;

/** Opens the memory; at most `maxEntries` documents and as many tags. */
export function openInspectionStore(
  options: { readonly kv: KeyValueStore; readonly clock: Clock; readonly maxEntries: number },
): InspectionStore {
  return new TwoLevels(options);
}

/** A record and where it stands. */
interface Place {
  readonly scope: AccessScope;
  readonly kind: EntryKind;
  readonly name: string;
}

class TwoLevels implements InspectionStore {
  readonly #kv: KeyValueStore;
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #documents: LRUCache<string, DocumentRecord>;
  readonly #tags: LRUCache<string, TagRecord>;
  #writes = 0;

  constructor({ kv, clock, maxEntries }: Parameters<typeof openInspectionStore>[0]) {
    this.#kv = kv;
    this.#clock = clock;
    this.#maxEntries = maxEntries;
    this.#documents = new LRUCache({
      max: maxEntries,
      maxSize: Math.max(1_000, maxEntries * PLATFORMS_A_DOCUMENT),
      sizeCalculation: ({ platforms, findings }) => Math.max(1, platforms.length + findings.length),
    });
    this.#tags = new LRUCache({ max: maxEntries });
  }

  size(): number {
    return this.#documents.size;
  }

  document(scope: AccessScope, digest: string): Promise<DocumentRecord | undefined> {
    return this.#recall(this.#documents, { scope, kind: "digest", name: digest }, DocumentSchema);
  }

  tag(scope: AccessScope, name: string): Promise<TagRecord | undefined> {
    return this.#recall(this.#tags, { scope, kind: "tag", name }, TagSchema);
  }

  learnDocument(scope: AccessScope, record: DocumentRecord): void {
    const place = { scope, kind: "digest", name: record.digest } as const;
    // What was read of an index alone does not replace what is also known of its configs.
    const before = this.#documents.peek(memoryKey(place));
    if (before !== undefined && isDeepEnough(before, "config") && !isDeepEnough(record, "config")) return;
    this.#documents.set(memoryKey(place), record);
    void this.#store(place, { value: documentToJson(record) });
  }

  putTag(scope: AccessScope, name: string, record: TagRecord): void {
    const place = { scope, kind: "tag", name } as const;
    this.#tags.set(memoryKey(place), record);
    void this.#store(place, { value: { ...record }, expireAtMs: record.verifiedAtMs + TAG_KEPT_MS });
  }

  async #recall<T extends object>(
    memory: LRUCache<string, T>,
    place: Place,
    schema: z.ZodType<T>,
  ): Promise<T | undefined> {
    const known = memory.get(memoryKey(place));
    if (known !== undefined || !this.#kv.isPersistent) return known;
    const stored = await this.#kv.get(entryKey(place.kind, [place.name, await place.scope.storedName()]));
    const record = unseal(stored, { v: RECORD_VERSION, nowMs: this.#clock.nowMs(), schema })?.value;
    // Somebody may have learnt something newer while the store was asked.
    if (record !== undefined && !memory.has(memoryKey(place))) memory.set(memoryKey(place), record);
    return memory.get(memoryKey(place));
  }

  async #store(place: Place, entry: { readonly value: JsonValue; readonly expireAtMs?: number }): Promise<void> {
    if (!this.#kv.isPersistent) return;
    const { value, ...expiry } = entry;
    const sealed = seal(value, { v: RECORD_VERSION, atMs: this.#clock.nowMs(), ...expiry });
    await this.#kv.set(entryKey(place.kind, [place.name, await place.scope.storedName()]), sealed);
    this.#writes += 1;
    if (this.#writes % WRITES_BETWEEN_PRUNES !== 0) return;
    await prune(this.#kv, { maxEntries: this.#maxEntries * STORE_FACTOR, clock: this.#clock });
  }
}

/** Scopes' names have no spaces. */
function memoryKey({ scope, name }: Place): string {
  return `${scope.name} ${name}`;
}
