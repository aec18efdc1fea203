// A source of credentials that is read again when it changes: a problem is logged once, and the last good content stays.
import type { Logger } from "../../log.ts";
import type { Parsed } from "../../parsed.ts";
import { LastGood, type Problem, renderProblem } from "./last_good.ts";
import { FileReader, haveChanged } from "./read_files.ts";

interface FollowedFileOptions<T> {
  readonly path: string;
  readonly parse: (text: string) => Parsed<T>;
  /** The content of a missing file, or of one that was never readable. */
  readonly empty: T;
  readonly name: string;
  readonly report: ReportOnce;
  /** Called after each change of the content: what was derived from the old content no longer holds. */
  readonly onChange: () => void;
}

/** Follows a file; the answer gives its content as of now. Nothing is read before that is first called. */
export function followFile<T>(options: FollowedFileOptions<T>): () => T {
  const { path, parse, empty, name, report, onChange } = options;
  const content = new LastGood<T>();
  let touched: ReadonlyMap<string, string> = new Map([[path, "never read"]]);
  let current = empty;
  let text: string | undefined;
  const keepText = (read: string): Parsed<T> => {
    text = read;
    return parse(read);
  };
  return () => {
    if (!haveChanged(touched)) return current;
    const files = new FileReader();
    const before = text;
    text = undefined;
    const problems: Problem[] = [];
    const list = { add: (problem: Problem): unknown => problems.push(problem) };
    const found = content.read(path, { files, problems: list, parse: keepText, place: "named" });
    touched = files.touched;
    if (text !== undefined && text === before) return current;
    if (found.kind === "missing") problems.push({ file: path, message: "is missing" });
    problems.forEach((problem) => report.warn(name, renderProblem(problem)));
    current = found.kind === "value" ? found.value : empty;
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

  /** Logs a warning unless it is the last one of the source. `state` holds no secret. */
  warn(source: string, state: string): void {
    if (this.#last.get(source) === state) return;
    this.#last.set(source, state);
    this.#log.warn("cannot use a source of registry credentials", { source, reason: state });
  }

  clear(source: string): void {
    this.#last.delete(source);
  }
}
