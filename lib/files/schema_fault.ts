// Where a document is not of the shape it must have: the first complaint of a schema, pointed at in the text. Pure.
import type { z } from "zod";
import { findLine } from "./problem.ts";

/** The place of a complaint. */
export interface SchemaFault {
  /** The value's place, `registry.0.blocked`; empty for the document itself. */
  readonly path: string;
  /** The first line that has the key, from 1. */
  readonly line: number | undefined;
}

/** Finds the first fault. `keyOf` gives the spelling of a key in the text; default: as it is. */
export function findSchemaFault(
  error: z.ZodError,
  text: string,
  keyOf: (key: string) => string = (key) => key,
): SchemaFault {
  const path = error.issues[0]?.path.map(String) ?? [];
  const key = path.findLast((part) => !/^\d+$/.test(part));
  return { path: path.join("."), line: key === undefined ? undefined : findLine(text, keyOf(key)) };
}
