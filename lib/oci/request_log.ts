// What the requests of one inspection have in common, and what they cost: by kind, and every exchange for `--trace`.
import type { InspectionReport, RequestCounts, TraceEntry } from "./inspector.ts";
import type { Callers } from "./callers.ts";
import type { Credential } from "./credential.ts";

export type RequestKind = keyof RequestCounts;

export const NO_REQUESTS: RequestCounts = { manifestGet: 0, manifestHead: 0, blobGet: 0, token: 0, other: 0 };

/** The report of what no request was sent for. */
export function reportWithoutRequests(
  found: Pick<InspectionReport, "inspection" | "resolved" | "verifiedAtMs" | "source">,
): InspectionReport {
  return { ...found, access: "public", requests: NO_REQUESTS, trace: [] };
}

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

export interface InspectionContext {
  readonly credentials: readonly Credential[];
  /** The namespaces whose shares its requests count in, and how urgent they are. Others may join. */
  readonly callers: Callers;
  readonly signal: AbortSignal;
  readonly log: RequestLog;
}
