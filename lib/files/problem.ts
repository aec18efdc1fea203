// What is wrong with a configuration file, in words that are safe to log. Made by every parser of this folder.

/** A fault in a file: said once, with the line where it is known. Never holds a value that could be a secret. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line?: number;
  readonly message: string;
}

/** A fault found by a parser, which does not know the name of its file. */
export type Fault = Omit<Problem, "file">;

/** What a parser answers: the value with the oddities it passed over, or the fault that makes the text unusable. */
export type Parsed<T> =
  | { readonly kind: "ok"; readonly value: T; readonly warnings: readonly Fault[] }
  | { readonly kind: "broken"; readonly fault: Fault };

/** A good answer. */
export function ok<T>(value: T, warnings: readonly Fault[] = []): Parsed<T> {
  return { kind: "ok", value, warnings };
}

/** A bad answer. `line` counts from 1. */
export function broken(message: string, line?: number): { readonly kind: "broken"; readonly fault: Fault } {
  return { kind: "broken", fault: line === undefined ? { message } : { message, line } };
}

/** The first line that has this text, so that a fault found after parsing can still be pointed at. */
export function findLine(text: string, needle: string): number | undefined {
  const at = needle === "" ? -1 : text.indexOf(needle);
  return at < 0 ? undefined : text.slice(0, at).split("\n").length;
}
