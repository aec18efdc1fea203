// The cache as text for sites without a way out: one JSON object a line, digest → platforms. Only what anybody may know goes
// out; tags stay, they move. Used by `archway cache export|import`.
import { z } from "zod";
import type { Clock } from "../clock.ts";
import { DocumentSchema, documentToJson, RECORD_VERSION } from "../oci/cache_records.ts";
import { PUBLIC_SCOPE } from "../oci/knowledge_scope.ts";
import { seal, unseal } from "./envelope.ts";
import { entryKey, kindPrefix } from "./keys.ts";
import type { KeyValueStore } from "./store.ts";

/** What became of the lines of an import. Empty lines are none. */
export interface Imported {
  /** Stored. */
  readonly imported: number;
  /** Not JSON, not a document of ours, or of another version. */
  readonly invalid: number;
  /** Good, but the store did not take it. */
  readonly lost: number;
}

const Line = z.object({ v: z.literal(RECORD_VERSION), image: DocumentSchema });
/** Longer than any document that the cache takes. */
const MAX_LINE = 64_000;
const WRITES_AT_ONCE = 16;

/** The public documents of a store as lines, each with its newline. Ends early when the store fails: compare `faults()`. */
export async function* exportEntries(
  store: KeyValueStore,
  { clock }: { readonly clock: Clock },
): AsyncGenerator<string> {
  for await (const { key, value } of store.list(kindPrefix("digest"))) {
    if (key.at(-1) !== PUBLIC_SCOPE.name) continue;
    const found = unseal(value, { v: RECORD_VERSION, nowMs: clock.nowMs(), schema: DocumentSchema });
    if (found !== undefined) yield `${JSON.stringify({ v: RECORD_VERSION, image: found.value })}\n`;
  }
}

/** Puts lines into the store; a bad one is counted and left out. */
export async function importEntries(
  lines: AsyncIterable<string>,
  { store, clock }: { readonly store: KeyValueStore; readonly clock: Clock },
): Promise<Imported> {
  const counts = { imported: 0, invalid: 0, lost: 0 };
  let writes: Promise<void>[] = [];
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const document = parseLine(line);
    if (document === undefined) {
      counts.invalid += 1;
      continue;
    }
    const sealed = seal(documentToJson(document), { v: RECORD_VERSION, atMs: clock.nowMs() });
    const write = store.set(entryKey("digest", [document.digest, PUBLIC_SCOPE.name]), sealed);
    writes.push(write.then((isStored) => void (counts[isStored ? "imported" : "lost"] += 1)));
    if (writes.length < WRITES_AT_ONCE) continue;
    await Promise.all(writes);
    writes = [];
  }
  await Promise.all(writes);
  return counts;
}

function parseLine(line: string): z.infer<typeof DocumentSchema> | undefined {
  if (line.length > MAX_LINE) return undefined;
  try {
    return Line.safeParse(JSON.parse(line)).data?.image;
  } catch {
    return undefined;
  }
}
