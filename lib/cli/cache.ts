// `archway cache export|import FILE`: moves what is known of public images to a site without internet. FILE `-` means
// the standard streams.
import type { Config } from "../config/parse.ts";
import { openDenoKv, withoutSecrets } from "../kv/deno_kv.ts";
import { PROBE_KEY } from "../kv/keys.ts";
import { exportCache, importCache } from "../oci/cache/ndjson.ts";
import type { KeyValueStore } from "../kv/store.ts";
import { errorText } from "../log.ts";
import { type CommandDeps, ExitCode, terminalLogger } from "./output.ts";

/** `kvUrl` wins over `cachePath`. */
type CacheConfig = Pick<Config, "positionals" | "cachePath" | "kvUrl">;

interface CacheDeps extends Omit<CommandDeps, "userAgent"> {
  /** What `import -` reads. */
  readonly input: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Entries between two lines of progress. */
const PROGRESS_EVERY = 10_000;
/** Exports or imports. Returns 3 when the cache or the file could not be used, or the signal aborted before the end. */
export async function runCache(config: CacheConfig, deps: CacheDeps): Promise<number> {
  const [verb, file = "-"] = config.positionals;
  const place = config.kvUrl === undefined ? config.cachePath ?? "" : withoutSecrets(config.kvUrl);
  const input = verb === "import" ? await openInput(file, deps) : undefined;
  if (input === "unreadable") return ExitCode.failed;
  try {
    // Throws when the cache file is missing, since opening the cache would create it.
    if (verb === "export" && config.kvUrl === undefined) await Deno.lstat(place);
    const store = await openStore(config, deps);
    try {
      await assertAnswers(store, verb === "import" ? "writing" : "reading", deps);
      return input === undefined ? await runExport(store, file, deps) : await runImport(store, input, deps);
    } finally {
      await store.close();
    }
  } catch (error) {
    deps.terminal.err(`archway: Cannot ${verb} the cache "${place}": ${errorText(error)}\n`);
    return ExitCode.failed;
  }
}

type Input = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Opened before the cache, which would be created even if there is nothing to import. */
async function openInput(file: string, { terminal, input }: CacheDeps): Promise<Input | "unreadable"> {
  if (file === "-") return input;
  try {
    return (await Deno.open(file, { read: true })).readable;
  } catch (error) {
    terminal.err(`archway: Cannot read "${file}" to import it: ${errorText(error)}\n`);
    return "unreadable";
  }
}

function openStore({ kvUrl, cachePath = "" }: CacheConfig, { clock, terminal }: CacheDeps): Promise<KeyValueStore> {
  const log = terminalLogger(terminal);
  return openDenoKv({ ...(kvUrl === undefined ? { path: cachePath } : { url: kvUrl }), clock, log });
}

/** How often a store that does not answer is asked, and at which interval (ms): it may still be opening. */
const MAX_ATTEMPTS = 60;
const TRY_EVERY_MS = 200;

/** A store never rejects, so this probes whether its database answers. */
async function assertAnswers(
  store: KeyValueStore,
  how: "reading" | "writing",
  { clock, signal }: CacheDeps,
): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && !signal.aborted; attempt++) {
    const before = store.faultCount();
    await (how === "writing" ? store.set(PROBE_KEY, true) : store.get(PROBE_KEY));
    if (store.faultCount() === before) return;
    await clock.sleep(TRY_EVERY_MS, signal);
  }
  throw new Error("it does not answer. Check that it is not locked by a running Archway, or that the server is up.");
}

async function runExport(store: KeyValueStore, file: string, deps: CacheDeps): Promise<number> {
  const { terminal, clock, signal } = deps;
  const before = store.faultCount();
  let exported = 0;
  let leftOut = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const line of exportCache(store, { clock, onPrivate: () => leftOut++ })) {
      if (signal.aborted) return;
      yield line;
      exported += 1;
      if (exported % PROGRESS_EVERY === 0) terminal.err(`${exported} exported so far\n`);
    }
  }
  if (file === "-") { for await (const line of lines()) terminal.out(line); }
  else await writeLines(file, lines());
  terminal.err(`${exported} exported${leftOut === 0 ? "" : `, ${leftOut} left out: they took a credential to read`}\n`);
  if (store.faultCount() > before) throw new Error("it stopped answering before the end. Run the command again.");
  return signal.aborted ? ExitCode.failed : ExitCode.done;
}

/** Writes another file and renames it at the end, so that the wanted file is never incomplete. */
async function writeLines(file: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  const target = await Deno.open(partial, { write: true, create: true, truncate: true, mode: 0o600 });
  await ReadableStream.from(lines).pipeThrough(new TextEncoderStream()).pipeTo(target.writable);
  await Deno.rename(partial, file);
}

async function runImport(store: KeyValueStore, source: Input, deps: CacheDeps): Promise<number> {
  const { terminal, clock, signal } = deps;
  let read = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const line of splitLines(source)) {
      if (signal.aborted) return;
      yield line;
      read += 1;
      if (read % PROGRESS_EVERY === 0) terminal.err(`${read} lines read so far\n`);
    }
  }
  const { imported, older, invalid, lost } = await importCache(lines(), { store, clock });
  terminal.err(`${imported} imported, ${older} older than known, ${invalid} not understood, ${lost} not stored\n`);
  if (lost > 0) throw new Error(`it did not take ${lost} entries. Run the command again.`);
  if (invalid > 0 && imported + older === 0) {
    throw new Error("the file has no line that is of an image. Was it made by this command?");
  }
  return signal.aborted ? ExitCode.failed : ExitCode.done;
}

/** Longer than any entry. A longer line is cut, and so counts as invalid. */
const MAX_LINE_CHARACTERS = 128_000;

/** Splits text into lines as it arrives. */
async function* splitLines(source: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of source.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()?.slice(0, MAX_LINE_CHARACTERS) ?? "";
    yield* lines;
  }
  yield rest;
}
