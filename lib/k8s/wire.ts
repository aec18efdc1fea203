// Objects that are written to the API server, checked against the types of the official client. Types alone: nothing of the
// client is loaded when the program runs.

/**
 * A type of client-node as JSON carries it: its dates are RFC 3339 text. Rendered objects say `satisfies Wire<V1Lease>`, so
 * that a misspelt or missing member is an error of the type check.
 */
export type Wire<T> = T extends Date ? string
  : T extends readonly (infer Item)[] ? readonly Wire<Item>[]
  : T extends object ? { readonly [Member in keyof T]: Wire<T[Member]> }
  : T;
