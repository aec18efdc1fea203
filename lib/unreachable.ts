// The end of every exhaustive switch over a union: a member without a case is a bug, found by the compiler first.

/** Marks code that the types say cannot be reached. Throws when a value from outside does not have its type. */
export function unreachable(value: never): never {
  throw new Error(`Cannot handle "${JSON.stringify(value)}": no case covers it. This is a bug in Archway; report it.`);
}
