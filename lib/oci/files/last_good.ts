// Keeps the last good value of each configuration file, so that a broken edit changes nothing.
import { type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { FileReader } from "./read_files.ts";

/** A fault in a file: said once, with the line where it is known. */
export interface Problem extends Fault {
  readonly file: string;
}

export type FileValue<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "missing" }
  /** Unreadable, and it never was readable. */
  | { readonly kind: "unparsable"; readonly problem: Problem };

export interface ProblemList {
  add(problem: Problem): void;
}

export class LastGood<T> {
  readonly #values = new Map<string, T>();

  /** Reads and parses a file. When that fails, the last good value stays; the problem is reported either way. */
  read(
    path: string,
    options: {
      readonly files: FileReader;
      readonly problems: ProblemList;
      readonly parse: (text: string) => Parsed<T>;
      /** `system`: a default path, so a file that may not be read counts as missing. */
      readonly place: "named" | "system";
    },
  ): FileValue<T> {
    const content = options.files.readText(path);
    if (content.kind === "missing" || content.kind === "denied" && options.place === "system") {
      this.#values.delete(path);
      return { kind: "missing" };
    }
    const parsed: Parsed<T> = content.kind === "text"
      ? options.parse(content.text)
      : unparsable(content.kind === "denied" ? "may not be read" : content.message);
    return this.settle(path, parsed, options.problems);
  }

  settle(path: string, parsed: Parsed<T>, problems: ProblemList): FileValue<T> {
    const report = (fault: Fault): void => problems.add({ file: path, ...fault });
    if (parsed.kind === "parsed") {
      parsed.warnings.forEach(report);
      this.#values.set(path, parsed.value);
      return { kind: "value", value: parsed.value };
    }
    report(parsed.fault);
    const last = this.#values.get(path);
    return last === undefined
      ? { kind: "unparsable", problem: { file: path, ...parsed.fault } }
      : { kind: "value", value: last };
  }
}

export function renderProblem({ file, line, message }: Problem): string {
  return `${file}${line === undefined ? "" : ` line ${line}`}: ${message}`;
}
