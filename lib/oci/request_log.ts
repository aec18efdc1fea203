// What the requests of one inspection cost: how many of each kind, and every exchange for `--trace`.
import type { Callers } from "./callers.ts";

export interface RequestCounts {
  readonly manifestGet: number;
  readonly manifestHead: number;
  readonly blobGet: number;
  readonly token: number;
  readonly other: number;
}

/** One HTTP exchange for `--trace`: secrets masked, no query. */
export interface TraceEntry {
  readonly method: string;
  readonly url: string;
  readonly status: number | "failed";
  readonly ms: number;
  readonly note?: string;
  /** The kind of login, never its secret; absent: without a credential. */
  readonly authorization?: "Basic" | "Bearer" | "form" | "other";
}

export type RequestKind = keyof RequestCounts;

export const NO_REQUESTS: RequestCounts = { manifestGet: 0, manifestHead: 0, blobGet: 0, token: 0, other: 0 };

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

/** What the requests of one inspection or push have in common. */
export interface RequestContext {
  readonly callers: Callers;
  readonly signal: AbortSignal;
  readonly requestLog: RequestLog;
}
