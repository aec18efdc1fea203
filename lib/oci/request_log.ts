// What one inspection cost: requests by kind, and every exchange for `--trace`.
import type { RequestCounts, TraceEntry } from "./inspector.ts";

export type RequestKind = keyof RequestCounts;

export const NO_REQUESTS: RequestCounts = { manifestGet: 0, manifestHead: 0, blobGet: 0, token: 0, other: 0 };

export function addRequests(left: RequestCounts, right: RequestCounts): RequestCounts {
  return {
    manifestGet: left.manifestGet + right.manifestGet,
    manifestHead: left.manifestHead + right.manifestHead,
    blobGet: left.blobGet + right.blobGet,
    token: left.token + right.token,
    other: left.other + right.other,
  };
}

/** More exchanges than an inspection ever needs; a hostile registry shall not fill our memory. */
const MAX_TRACE = 100;

export class RequestLog {
  #counts: RequestCounts = NO_REQUESTS;
  readonly #trace: TraceEntry[] = [];

  get counts(): RequestCounts {
    return this.#counts;
  }

  get trace(): readonly TraceEntry[] {
    return this.#trace;
  }

  count(kind: RequestKind): void {
    this.#counts = { ...this.#counts, [kind]: this.#counts[kind] + 1 };
  }

  note(entry: TraceEntry): void {
    if (this.#trace.length < MAX_TRACE) this.#trace.push(entry);
  }
}
