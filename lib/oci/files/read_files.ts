// Reads configuration files, and records each path tried and each problem. It is synchronous, so that a reload applies
// all files together.
import { systemClock } from "../../clock.ts";
import { asParsed, type Fault, type Parsed, type Unparsable, unparsable } from "../../parsed.ts";

/** A fault in a file, with the line where known. */
export interface FileProblem extends Fault {
  readonly file: string;
}

export function renderProblem({ file, line, message }: FileProblem): string {
  return `${file}${line === undefined ? "" : ` line ${line}`}: ${message}`;
}

/** Who chose a path. A `system` file that this process may not read counts as missing. */
export type Origin = "named" | "system";

/** Reads the files of one load. */
export class FileReader {
  readonly #touched = new Map<string, string>();
  readonly #problems: FileProblem[] = [];
  #hasFaults = false;

  /** Every path that was read, missing ones too, with its state just before. */
  get touched(): ReadonlyMap<string, string> {
    return this.#touched;
  }

  get problems(): readonly FileProblem[] {
    return this.#problems;
  }

  /** Whether a file, or a part of it, could not be used, which is more than a warning. */
  get hasFaults(): boolean {
    return this.#hasFaults;
  }

  /** Undefined for a missing file. */
  readText(path: string, origin: Origin = "named"): Parsed<string> | undefined {
    this.#touched.set(path, appearance(path));
    try {
      return asParsed(new TextDecoder().decode(Deno.readFileSync(path)));
    } catch (error) {
      if (isOneOf(error, [Deno.errors.NotFound, Deno.errors.NotADirectory])) return undefined;
      if (!isOneOf(error, [Deno.errors.PermissionDenied, Deno.errors.NotCapable])) return unparsable("cannot be read");
      return origin === "system" ? undefined : unparsable("may not be read");
    }
  }

  /** Reads and parses a file. Undefined for a missing one. A fault names the file. */
  read<T>(path: string, parse: (text: string) => Parsed<T>, origin?: Origin): Parsed<T> | undefined {
    const text = this.readText(path, origin);
    return text && this.settle(path, text.kind === "parsed" ? parse(text.value) : text);
  }

  /** Like {@link read}, for a file that must exist. */
  readRequired<T>(path: string, parse: (text: string) => Parsed<T>): Parsed<T> {
    return this.read(path, parse) ?? this.#fail({ file: path, message: "is missing" }, `${path} is missing`);
  }

  /** Records what is wrong with a value that was parsed from a file. */
  settle<T>(file: string, parsed: Parsed<T>): Parsed<T> {
    if (parsed.kind === "unparsable") return this.#fail({ file, ...parsed.fault });
    this.#problems.push(...parsed.warnings.map((warning) => ({ file, ...warning })));
    return parsed;
  }

  /** Sorted names in a folder; empty when it is missing or unreadable. */
  list(path: string): readonly string[] {
    this.#touched.set(path, appearance(path));
    try {
      return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
    } catch {
      return [];
    }
  }

  /** Warns unless there is a folder, which may be empty. */
  expectFolder(path: string): void {
    this.#touched.set(path, appearance(path));
    if (!isFolder(path)) this.#problems.push({ file: path, message: "is not a folder" });
  }

  #fail(problem: FileProblem, message = renderProblem(problem)): Unparsable {
    this.#hasFaults = true;
    this.#problems.push(problem);
    return unparsable(message);
  }
}

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
