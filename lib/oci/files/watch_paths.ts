// Notices when files change: by the kernel's word where that works, by looking now and then everywhere.
import type { Clock } from "../../clock.ts";
import { haveChanged, isFolder } from "./read_files.ts";

/** An editor writes in several steps: looking a moment later sees one change, not a half one. More than a tick of a file system. */
const SETTLE_MS = 50;

const POLL_MS = 10_000;

/** Calls `onChange` after each change, until the signal aborts. Follows symbolic links. Never rejects. */
export async function watchPaths(
  options: {
    /** Paths with their state when they were read. Called again after each change: they may be others then. */
    readonly paths: () => ReadonlyMap<string, string>;
    readonly onChange: () => void;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): Promise<void> {
  const { clock } = options;
  while (!signal.aborted) {
    // The watcher opens before the look, so no change falls between them.
    const watcher = openWatcher(options.paths());
    if (haveChanged(options.paths())) {
      watcher?.close();
      options.onChange();
      continue;
    }
    const stop = new AbortController();
    const sleep = clock.sleep(POLL_MS, AbortSignal.any([signal, stop.signal]));
    const event = watcher === undefined ? sleep : waitForEvent(watcher, options.paths());
    await Promise.race([event, sleep]);
    stop.abort();
    watcher?.close();
    await Promise.all([event, sleep]);
    await clock.sleep(SETTLE_MS, signal);
  }
}

function openWatcher(paths: ReadonlyMap<string, string>): Deno.FsWatcher | undefined {
  const folders = new Set(
    [...paths.keys()].flatMap((path) => [path, path.replace(/\/[^/]*$/, "") || "/"]).filter(isFolder),
  );
  try {
    return folders.size === 0 ? undefined : Deno.watchFs([...folders], { recursive: false });
  } catch {
    return undefined;
  }
}

/** Resolves at the first event that may concern the paths, or when the watcher is closed. Reading is no change. */
async function waitForEvent(watcher: Deno.FsWatcher, paths: ReadonlyMap<string, string>): Promise<void> {
  for await (const { kind, paths: changed } of watcher) {
    if (kind !== "access" && changed.some((path) => concerns(path, paths))) return;
  }
}

function concerns(path: string, paths: ReadonlyMap<string, string>): boolean {
  return [...paths.keys()].some((watched) => path === watched || path.startsWith(`${watched}/`)) ||
    /\/\.\.[^/]*$/.test(path);
}
