// The steps of an inspection in the registry client; the first one is in this file. A request goes down, and each step
// waits for the one below it. The folders at the right hold the parts of a step.
//
//   InspectionRequest                                                                        InspectionReport
//        ▼                                                                                         ▲
//   1  inspector              plans the pull, completes the credentials       config/, credentials/│
//        ▼ PlannedRequest                                                                          │
//   2  cache/image_cache      what is known, from memory or the store; equal requests are one      │
//      cache/image_lookups    else a look-up: which requests share it, and how often               │
//        ▼ PlannedRequest                                                                          │
//   3  registry_reader        its turn among inspections; first_answer: the endpoints in order     │
//      image_reader           manifest, children and configs as far as they are needed             │ ImageRead
//        ▼ identifier                                                                              │
//   4  repository_documents   one document, checked by its digest; its turn to be parsed     image/│ ManifestDocument
//        ▼ RepositoryRequest                                                                       │
//      repository_client      one credential after the other, each logged in                  auth/│ RepositoryOutcome
//        ▼ EndpointRequest                                                                         │
//   5  http/connections       its turn at the host and its account, again after a pause    limits/ │
//      (auth/token as well)   a way to connect                                                     │
//        ▼ RegistryRequest                                                                         │
//      http/transport         address guard, TLS, redirects, time and size limits ─── fetch ───────┘ RegistryResponse
import type { ImageCache } from "./cache/image_cache.ts";
import { credentialsToTry, distinct, matchPullSecrets, MAX_TRIED } from "./credentials/match.ts";
import type { Keyring } from "./credential.ts";
import { type InspectionReport, type InspectionRequest, reportWithoutRequests } from "./inspection_request.ts";
import { RequestLog } from "./request_log.ts";
import type { PullPlanner } from "./config/planner.ts";

interface InspectorDeps {
  readonly planner: Pick<PullPlanner, "plan">;
  readonly keyring: Keyring;
  readonly cache: Pick<ImageCache, "inspect">;
}

/**
 * Adds the pull plan and the credentials to a request, before any cache is keyed by them. A request whose plan is
 * refused fails here.
 */
export class Inspector {
  readonly #deps: InspectorDeps;

  constructor(deps: InspectorDeps) {
    this.#deps = deps;
  }

  /** Never rejects except when the signal aborts: a failure is an {@link Inspection}. */
  async inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { planner, keyring, cache } = this.#deps;
    const { image, callers } = request;
    const plan = planner.plan(image);
    if (plan.kind === "refused") {
      const inspection = { kind: "failed", failure: plan.failure } as const;
      return reportWithoutRequests({ inspection, resolved: image, source: "registry" });
    }
    // Credentials that match no endpoint are dropped, so no cache is keyed by them.
    const endpoints = await Promise.all(plan.endpoints.map(async (endpoint) => {
      const own = matchPullSecrets(request.credentials, endpoint);
      return { ...endpoint, ...credentialsToTry(own, await keyring.credentialsFor({ ...endpoint, callers }, signal)) };
    }));
    const leftOut = endpoints.reduce((sum, endpoint) => sum + endpoint.leftOut, 0);
    const credentials = distinct(endpoints.flatMap((endpoint) => endpoint.credentials));
    const planned = { ...request, reference: plan.reference, credentials, endpoints, requestLog: new RequestLog() };
    const report = await cache.inspect(planned, signal);
    return leftOut === 0 ? report : withLeftOut(report, leftOut);
  }
}

/** Adds to a refusal how many matching credentials were not tried: one of them might have worked. */
function withLeftOut(report: InspectionReport, leftOut: number): InspectionReport {
  const { inspection } = report;
  if (inspection.kind !== "failed" || inspection.failure.reason !== "Unauthorized") return report;
  const { failure } = inspection;
  const message = `${failure.message} ${leftOut} more credentials match; at most ${MAX_TRIED} are tried.`;
  return { ...report, inspection: { kind: "failed", failure: { ...failure, message } } };
}
