// Reads configuration files and records every path tried. Synchronous, so a reload applies all files together.
import { systemClock } from "../../clock.ts";
import { MAX_DOCUMENT_BYTES } from "./documents.ts";

/** The result of reading a file. `failed` holds the reason as text; `denied`: this process may not read the path. */
type FileContent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "denied" }
  | { readonly kind: "failed"; readonly message: string };

const MAX_ENTRIES = 1_000;

export class FileReader {
  readonly #touched = new Map<string, string>();

  /** Every path that was read, missing ones too, with its state just before. */
  get touched(): ReadonlyMap<string, string> {
    return this.#touched;
  }

  readText(path: string): FileContent {
    this.#touched.set(path, appearance(path));
    try {
      const { size, isFile } = Deno.statSync(path);
      if (!isFile) return { kind: "failed", message: "is not a file" };
      if (size > MAX_DOCUMENT_BYTES) return { kind: "failed", message: "is larger than 1 MiB" };
      return { kind: "text", text: new TextDecoder().decode(Deno.readFileSync(path)) };
    } catch (error) {
      if (isOneOf(error, [Deno.errors.NotFound, Deno.errors.NotADirectory])) return { kind: "missing" };
      if (isOneOf(error, [Deno.errors.PermissionDenied, Deno.errors.NotCapable])) return { kind: "denied" };
      return { kind: "failed", message: "cannot be read" };
    }
  }

  /** Sorted names in a directory; empty when it is missing or unreadable. */
  list(path: string): readonly string[] {
    this.#touched.set(path, appearance(path));
    try {
      return [...Deno.readDirSync(path)].map(({ name }) => name).sort().slice(0, MAX_ENTRIES);
    } catch {
      return [];
    }
  }

  isFolder(path: string): boolean {
    this.#touched.set(path, appearance(path));
    return isFolder(path);
  }
}

/** Whether the path is a folder; false when access is denied. */
function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function isOneOf(error: unknown, kinds: readonly (new () => Error)[]): boolean {
  return kinds.some((kind) => error instanceof kind);
}

export function haveChanged(touched: ReadonlyMap<string, string>): boolean {
  return [...touched].some(([path, before]) => appearance(path) !== before);
}

/** The coarsest file system clock (ms). Two writes of equal length within one tick look the same. */
const TICK_MS = 20;

/** A file changed within the last tick looks different afterwards, so it is read again. */
function appearance(path: string): string {
  try {
    const { ino, size, mtime, ctime } = Deno.statSync(path);
    const changedMs = Math.max(mtime?.getTime() ?? 0, ctime?.getTime() ?? 0);
    const isFresh = changedMs > systemClock.nowMs() - TICK_MS;
    return [ino, size, mtime?.getTime(), ctime?.getTime(), isFresh].join(" ");
  } catch {
    return "none";
  }
}
