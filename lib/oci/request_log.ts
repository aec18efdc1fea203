// What one inspection cost: requests by kind, and every exchange for `--trace`.
import type { RequestCounts, TraceEntry } from "./inspector.ts";

/** What a request is counted as. */
export type RequestKind = keyof RequestCounts;

/** No requests at all. */
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

/** Counts and traces the exchanges of one inspection. */
export class RequestLog {
  #counts: RequestCounts = NO_REQUESTS;
  readonly #trace: TraceEntry[] = [];

  get counts(): RequestCounts {
    return this.#counts;
  }

  /** Exchanges so far, oldest first. */
  get trace(): readonly TraceEntry[] {
    return this.#trace;
  }

  /** Counts a request that is about to leave. */
  count(kind: RequestKind): void {
    this.#counts = { ...this.#counts, [kind]: this.#counts[kind] + 1 };
  }

  /** Keeps how an exchange ended. */
  note(entry: TraceEntry): void {
    if (this.#trace.length < MAX_TRACE) this.#trace.push(entry);
  }
}
