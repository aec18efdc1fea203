// The result of parsing a text or a value from outside: the value, or one fault. And `assertNever`, for switches.

/** What is wrong, in words that are safe to log: never a value that could be a secret. */
export interface Fault {
  readonly line?: number | undefined;
  readonly message: string;
}

export function faultText({ message, line }: Fault): string {
  return line === undefined ? message : `${message} in line ${line}`;
}

/** The value with warnings about what was ignored, or the fault that makes the text unusable. */
export type Parsed<T> =
  | { readonly kind: "parsed"; readonly value: T; readonly warnings: readonly Fault[] }
  | Unparsable;

export interface Unparsable {
  readonly kind: "unparsable";
  readonly fault: Fault;
}

export function asParsed<T>(value: T, warnings: readonly Fault[] = []): Parsed<T> {
  return { kind: "parsed", value, warnings };
}

export function unparsable(message: string, line?: number): Unparsable {
  return { kind: "unparsable", fault: line === undefined ? { message } : { message, line } };
}

/** Marks code that the types say cannot be reached. Throws when a value from outside does not have its type. */
export function assertNever(value: never): never {
  throw new Error(`Cannot handle "${JSON.stringify(value)}": no case covers it. This is a bug in Archway; report it.`);
}
