// Why a row has no test that carries its id, read from reasons.txt, which says what the kinds are.
import * as z from "zod";
import { parseClaim } from "./claims.ts";
import { readLines } from "./rows.ts";

const KIND = z.enum(["differs", "internals", "planned", "covered", "not yet"]);

export interface Reason {
  /** Ids as at the head of a test's name; ranges as `UT-01..13` or `47-59`. */
  readonly ids: readonly string[];
  readonly kind: z.infer<typeof KIND>;
  readonly why: string;
  /** The test that shows it. It is shown before tests that carry the id. */
  readonly by?: string | undefined;
}

function parseReason(block: string): Reason {
  const [head = "", why = "", by] = block.split("\n");
  const [ids = "", kind] = head.split(": ");
  return { ids: ids.split(" "), kind: KIND.parse(kind), why, by };
}

export const REASONS: readonly Reason[] = readLines("reasons.txt").join("\n").trim().split("\n\n").map(parseReason);

/** By list: each is asked for every row of the catalogue. */
const indexes = new WeakMap<readonly Reason[], ReadonlyMap<string, Reason>>();

/** The first reason that names the row, if any does. */
export function reasonOf(id: string, reasons: readonly Reason[] = REASONS): Reason | undefined {
  const index = indexes.get(reasons) ?? indexById(reasons);
  indexes.set(reasons, index);
  return index.get(id);
}

function indexById(reasons: readonly Reason[]): ReadonlyMap<string, Reason> {
  // From the last to the first, so that the first stays.
  return new Map(
    reasons.toReversed().flatMap((reason) => parseClaim(reason.ids.join(" ")).ids.map((id) => [id, reason] as const)),
  );
}
