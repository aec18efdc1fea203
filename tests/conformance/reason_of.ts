// Which reason is of a row.
import { parseClaim } from "./claims.ts";
import { type Reason, REASONS } from "./reasons.ts";

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
