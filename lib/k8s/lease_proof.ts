// Proof that no renewal of the Lease is observed: it is read again and again, and each answer shows the same renewal, or that it
// may not be read. An API server that does not answer proves nothing.
import type { Clock } from "../clock.ts";
import type { ReadApi } from "./api.ts";
import { isForbidden } from "./errors.ts";
import { parseLease } from "./lease_record.ts";
import { readOptional } from "./read_optional.ts";
import { Resource } from "./types.ts";

/** The same answer, given since a time. Times are those of our monotonic clock. */
export interface LeaseProof {
  /** The renewal that each read showed, empty where there is no Lease; undefined when it may not be read (403). */
  readonly renewal: string | undefined;
  /** When the first of these answers came. */
  readonly sinceMs: number;
  /** When the latest of these reads was sent. */
  readonly untilMs: number;
}

/** What is read with. */
export interface LeaseReading {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** Reads the Lease once more. Throws when no answer comes, or another error than 403: then nothing is proven. */
export async function readLeaseProof(
  { api, clock, lease }: LeaseReading,
  earlier: LeaseProof | undefined,
  signal: AbortSignal,
): Promise<LeaseProof> {
  const sentMs = clock.monotonicMs();
  const renewal = await readRenewal(api, lease, signal);
  if (earlier !== undefined && earlier.renewal === renewal) return { ...earlier, untilMs: sentMs };
  const nowMs = clock.monotonicMs();
  return { renewal, sinceMs: nowMs, untilMs: nowMs };
}

/** How long it has been proven (ms). */
export function provenForMs(proof: LeaseProof | undefined): number {
  return proof === undefined ? 0 : proof.untilMs - proof.sinceMs;
}

async function readRenewal(
  api: ReadApi,
  lease: LeaseReading["lease"],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const object = await readOptional(api, { type: Resource.leases, ...lease, signal });
    return object === undefined ? "" : parseLease(object).renewal;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
