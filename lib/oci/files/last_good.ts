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

export interface ProblemList {
  add(problem: FileProblem): void;
}

export class LastGood<T> {
  readonly #values = new Map<string, T>();

  /** Reads and parses a file. A failure is reported, and the last good value stays. */
  read(
    path: string,
    options: {
      readonly files: FileReader;
      readonly problems: ProblemList;
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

export function renderProblem({ file, line, message }: FileProblem): string {
  return `${file}${line === undefined ? "" : ` line ${line}`}: ${message}`;
}
