// Keeps the last good value of each configuration file, so that a broken edit changes nothing.
import { type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { FileReader } from "./read_files.ts";

/** A fault in a file, with the line where known. */
export interface FileProblem extends Fault {
  readonly file: string;
}

export type FileValue<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "missing" }
  /** It was never readable. */
  | { readonly kind: "unparsable"; readonly problem: FileProblem };

export class LastGood<T> {
  readonly #values = new Map<string, T>();

  /** Reads and parses a file. A failure is added to `problems`, and the last good value stays. */
  read(
    path: string,
    options: {
      readonly files: FileReader;
      readonly problems: FileProblem[];
      readonly parse: (text: string) => Parsed<T>;
      /** `system`: a default path, where a file without read permission counts as missing. */
      readonly origin: "named" | "system";
    },
  ): FileValue<T> {
    const content = options.files.readText(path);
    if (content.kind === "missing" || content.kind === "denied" && options.origin === "system") {
      this.#values.delete(path);
      return { kind: "missing" };
    }
    const parsed: Parsed<T> = content.kind === "text"
      ? options.parse(content.text)
      : unparsable(content.kind === "denied" ? "may not be read" : content.message);
    return this.settle(path, parsed, options.problems);
  }

  settle(path: string, parsed: Parsed<T>, problems: FileProblem[]): FileValue<T> {
    const problemOf = (fault: Fault): FileProblem => ({ file: path, ...fault });
    if (parsed.kind === "parsed") {
      problems.push(...parsed.warnings.map(problemOf));
      this.#values.set(path, parsed.value);
      return { kind: "value", value: parsed.value };
    }
    const problem = problemOf(parsed.fault);
    problems.push(problem);
    const last = this.#values.get(path);
    return last === undefined ? { kind: "unparsable", problem } : { kind: "value", value: last };
  }
}

export function renderProblem({ file, line, message }: FileProblem): string {
  return `${file}${line === undefined ? "" : ` line ${line}`}: ${message}`;
}
