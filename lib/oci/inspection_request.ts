// The request and the report of an inspection: what steps of inspector.ts hand to each other.
import type { Callers } from "./callers.ts";
import type { Credential } from "./credential.ts";
import type { EndpointWithCredentials } from "./endpoint.ts";
import type { ImageReference } from "./reference.ts";
import { NO_REQUESTS, type RequestCounts, type RequestLog, type TraceEntry } from "./request_log.ts";
import type { Inspection, InspectionDepth } from "./inspection.ts";

/**
 * How recent the look-up of a tag must be to answer a request. `cached`: within the life of a tag. `young`: within the
 * first half of that life. `lookupSinceMs`: this process began it at this time or later (monotonic ms), for
 * imagePullPolicy `Always`.
 */
export type Freshness = "cached" | "young" | { readonly lookupSinceMs: number };

/** What to inspect and with what. An inspector has no notion of pods. */
export interface InspectionRequest {
  /** The reference as the user wrote it: `nginx`, `quay.io/a/b:v1@sha256:…`. */
  readonly image: string;
  /** The requester's own credentials. Those whose scope matches are tried before those of the inspector's keyring. */
  readonly credentials: readonly Credential[];
  readonly freshness: Freshness;
  readonly depth: InspectionDepth;
  readonly callers: Callers;
}

/** A request with its pull plan. `credentials` are those of all its endpoints: they decide who may share its answer. */
export interface PlannedRequest extends InspectionRequest {
  readonly reference: ImageReference;
  readonly endpoints: readonly EndpointWithCredentials[];
  readonly requestLog: RequestLog;
}

export interface InspectionReport {
  readonly inspection: Inspection;
  /** Fully qualified reference that answered (or got the last request): `registry-1.docker.io/library/nginx:latest`. */
  readonly resolved: string;
  /** `cache`: no manifest was read for it, at most a HEAD was sent. */
  readonly source: "registry" | "cache";
  /** Who may use the answer, see cache/readership.ts. Absent when it was read anonymously, or was not kept. */
  readonly readershipId?: number | undefined;
  /** `Credential.source` that worked; absent when anonymous. */
  readonly credentialSource?: string | undefined;
  /** `host[:port]` of the mirror that answered instead of the registry itself. */
  readonly mirror?: string | undefined;
  readonly requests: RequestCounts;
  readonly trace: readonly TraceEntry[];
}

/** A report that counts no requests. */
export function reportWithoutRequests(
  found: Pick<InspectionReport, "inspection" | "resolved" | "source">,
): InspectionReport {
  return { ...found, requests: NO_REQUESTS, trace: [] };
}
