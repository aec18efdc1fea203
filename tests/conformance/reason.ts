// The kinds of reasons why a row has no test that carries its id.
import type { Reason } from "./reasons.ts";

/** Ids, why, and the test that shows it. */
type Of = (ids: readonly string[], why: string, by?: string) => Reason;

function different(of: Extract<Reason, { readonly status: "different" }>["of"]): Of {
  return (ids, why, by) => ({ ids, status: "different", of, why, ...(by === undefined ? {} : { by }) });
}

export const differs: Of = different("behaviour");
export const internals: Of = different("internals");
export const planned: Of = different("plan");

export function covered(ids: readonly string[], why: string, by: string): Reason {
  return { ids, status: "covered", why, by };
}

export function notYet(ids: readonly string[], why: string): Reason {
  return { ids, status: "not yet", why };
}
