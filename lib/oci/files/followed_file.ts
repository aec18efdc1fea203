// Rereads a source of credentials when it changes. A problem is logged once until it is mended, and the last
// good content stays.
import type { Logger } from "../../log.ts";
import type { Parsed } from "../../parsed.ts";
import { FileReader, haveChanged, renderProblem } from "./read_files.ts";

interface FollowedFileOptions<T> {
  readonly path: string;
  readonly parse: (text: string) => Parsed<T>;
  /** Used for a missing file, or one that was never readable. */
  readonly empty: T;
  readonly name: string;
  readonly report: ReportOnce;
  /** Called after each change, to drop what was derived from the old content. */
  readonly onChange: () => void;
}

/** Follows a file. The returned function gives its current content; its first call reads the file. */
export function followFile<T>(options: FollowedFileOptions<T>): () => T {
  const { path, parse, empty, name, report, onChange } = options;
  let touched: ReadonlyMap<string, string> | undefined;
  let current = empty;
  let text: string | undefined;
  return () => {
    if (touched !== undefined && !haveChanged(touched)) return current;
    const files = new FileReader();
    const before = text;
    text = undefined;
    const found = files.read(path, (read) => parse(text = read));
    touched = files.touched;
    if (text !== undefined && text === before) return current;
    if (found?.kind === "parsed" && files.problems.length === 0) report.clear(name);
    for (const problem of files.problems) report.warn(name, renderProblem(problem));
    if (found === undefined) report.warn(name, `${path} is missing`);
    if (found?.kind !== "unparsable") current = found?.value ?? empty;
    onChange();
    return current;
  };
}

export class ReportOnce {
  readonly #log: Logger;
  readonly #last = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs a warning unless the source's last one was the same. `state` holds no secret. */
  warn(source: string, state: string): void {
    if (this.#last.get(source) === state) return;
    this.#last.set(source, state);
    this.#log.warn("cannot use a source of registry credentials", { source, reason: state });
  }

  clear(source: string): void {
    this.#last.delete(source);
  }
}
