// What comes of parsing a text or a value from outside: one type for parsers that find one fault or none.

/** What is wrong, in words that are safe to log: never a value that could be a secret. */
export interface Fault {
  /** From 1, where it is known. */
  readonly line?: number | undefined;
  readonly message: string;
}

/** The value with the oddities that were passed over, or the fault that makes the text unusable. */
export type Parsed<T> =
  | { readonly kind: "parsed"; readonly value: T; readonly warnings: readonly Fault[] }
  | Unparsable;

/** The bad outcome. */
export interface Unparsable {
  readonly kind: "unparsable";
  readonly fault: Fault;
}

/** A good outcome. */
export function asParsed<T>(value: T, warnings: readonly Fault[] = []): Parsed<T> {
  return { kind: "parsed", value, warnings };
}

/** A bad outcome. `line` counts from 1. */
export function unparsable(message: string, line?: number): Unparsable {
  return { kind: "unparsable", fault: line === undefined ? { message } : { message, line } };
}
