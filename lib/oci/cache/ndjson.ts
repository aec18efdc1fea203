// The cache as text for disconnected sites, one JSON object a line. It has only what was read without credentials.
import * as z from "zod";
import type { Clock } from "../../clock.ts";
import { tryParseJson } from "../../json.ts";
import { RECORD_VERSION, type TagRecord, TagSchema } from "./records.ts";
import { ImageRecord } from "../inspection.ts";
import { PUBLIC_NAME } from "./readership.ts";
import { parseReference, renderReference } from "../reference.ts";
import { seal, unseal } from "../../kv/envelope.ts";
import { entryKey, kindPrefix, type RecordKind } from "../../kv/keys.ts";
import type { KeyValueStore } from "../../kv/store.ts";

interface Imported {
  readonly imported: number;
  /** Tags of which the store has a more recent value, which it keeps. */
  readonly older: number;
  /** Not JSON, not an entry of ours, of another version, or from the future. */
  readonly invalid: number;
  readonly lost: number;
}

const Tag = TagSchema.and(z.object({ name: z.string().refine(isTagOfEverySite) }));
const Line = z.object({ v: z.literal(RECORD_VERSION), image: ImageRecord.optional(), tag: Tag.optional() });
const MAX_PARALLEL_WRITES = 16;

interface ExportOptions {
  readonly clock: Clock;
  readonly onPrivate?: () => void;
}

/**
 * The public entries of a store as lines, each with its newline. Ends early when the store fails: compare
 * `faultCount()`.
 */
export async function* exportCache(store: KeyValueStore, options: ExportOptions): AsyncGenerator<string> {
  const records = { ...options, kind: "digest", schema: ImageRecord } as const;
  for await (const { value: image } of publicEntries(store, records)) {
    yield `${JSON.stringify({ v: RECORD_VERSION, image })}\n`;
  }
  for await (const { name, value } of publicEntries(store, { ...options, kind: "tag", schema: TagSchema })) {
    if (isTagOfEverySite(name)) yield `${JSON.stringify({ v: RECORD_VERSION, tag: { name, ...value } })}\n`;
  }
}

async function* publicEntries<T>(
  store: KeyValueStore,
  { kind, schema, clock, onPrivate }: ExportOptions & { readonly kind: RecordKind; readonly schema: z.ZodType<T> },
): AsyncGenerator<{ readonly name: string; readonly value: T }> {
  for await (const { key, value } of store.list(kindPrefix(kind))) {
    const found = unseal(value, { v: RECORD_VERSION, nowMs: clock.nowMs(), schema });
    if (found === undefined) continue;
    if (key.at(-1) === PUBLIC_NAME) yield { name: String(key.at(-2)), value: found };
    else onPrivate?.();
  }
}

/** Whether a name means the same image everywhere. The configuration of each site decides what a short name means. */
function isTagOfEverySite(name: string): boolean {
  const parsed = parseReference(name);
  return parsed.kind !== "unparsable" && parsed.value.digest === undefined && !parsed.value.isShort &&
    renderReference(parsed.value) === name;
}

/** Puts lines into the store. A bad line is counted and left out. Tags keep the time at which they were looked up. */
export async function importCache(
  lines: AsyncIterable<string>,
  { store, clock }: { readonly store: KeyValueStore; readonly clock: Clock },
): Promise<Imported> {
  const counts = { imported: 0, older: 0, invalid: 0, lost: 0 };
  let writes: Promise<void>[] = [];
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const { image, tag } = parseLine(line);
    const write = image !== undefined
      ? putRecord(image, { store, clock })
      : tag !== undefined
      ? putTag(tag, { store, clock })
      : Promise.resolve("invalid" as const);
    writes.push(write.then((fate) => void (counts[fate] += 1)));
    if (writes.length < MAX_PARALLEL_WRITES) continue;
    await Promise.all(writes);
    writes = [];
  }
  await Promise.all(writes);
  return counts;
}

interface Target {
  readonly store: KeyValueStore;
  readonly clock: Clock;
}

async function putRecord(record: ImageRecord, { store, clock }: Target): Promise<keyof Imported> {
  const sealed = seal(record, { v: RECORD_VERSION, atMs: clock.nowMs() });
  return await store.set(entryKey("digest", [record.digest, PUBLIC_NAME]), sealed) ? "imported" : "lost";
}

/** Stored without an expiry: the age of a tag decides how long it is used, and this site may use old tags. */
async function putTag(
  { name, digest, verifiedAtMs }: TagRecord & { readonly name: string },
  { store, clock }: Target,
): Promise<keyof Imported> {
  // A time in the future would keep the tag fresh for too long.
  if (verifiedAtMs > clock.nowMs()) return "invalid";
  const key = entryKey("tag", [name, PUBLIC_NAME]);
  const known = unseal(await store.get(key), { v: RECORD_VERSION, nowMs: clock.nowMs(), schema: TagSchema });
  if (known !== undefined && known.verifiedAtMs > verifiedAtMs) return "older";
  const sealed = seal({ digest, verifiedAtMs }, { v: RECORD_VERSION, atMs: clock.nowMs() });
  return await store.set(key, sealed) ? "imported" : "lost";
}

function parseLine(line: string): Omit<z.infer<typeof Line>, "v"> {
  return Line.safeParse(tryParseJson(line)).data ?? {};
}
