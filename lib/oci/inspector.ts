// The way of an image through the registry client, and its first hop. A request goes down, and each hop waits for the one below.
// Files beside this one are hops, and what passes between them; a folder has what its hop is made of.
//
//   InspectionRequest                                                                        InspectionReport
//        ▼                                                                                         ▲
//   1  inspector              plans the pull, completes the credentials       config/, credentials/│
//        ▼ PlannedRequest                                                                          │
//   2  cache/cached_inspector what is known, from memory or the store; equal requests are one      │
//      cache/tag_lookups      else a look-up: which requests share it, and how often               │
//        ▼ PlannedRequest                                                                          │
//   3  registry_inspector     its turn among inspections; first_answer: the endpoints in order     │
//      image_reader           manifest, children and configs as far as they are needed             │ ImageRead
//        ▼ identifier                                                                              │
//   4  session                one document, checked by its digest; its turn to be parsed     image/│ ManifestDocument
//      repository_client      one credential after the other, each logged in                  auth/│ RepositoryAnswer
//        ▼ EndpointRequest                                                                         │
//   5  http/connections       its turn at account and host (limits/host_limiter), a way to connect │
//      http/transport         address guard, TLS, redirects, time and size limits ─── fetch ───────┘ RegistryResponse
import type { Clock } from "../clock.ts";
import type { CachedInspector } from "./cache/cached_inspector.ts";
import { matchPullSecrets } from "./credentials/match.ts";
import type { Credential, Keyring } from "./credential.ts";
import { fingerprintWithScope } from "./fingerprint.ts";
import { type InspectionReport, type InspectionRequest, reportWithoutRequests } from "./inspection.ts";
import { RequestLog } from "./request_log.ts";
import type { PlannedEndpoint, PullPlanner } from "./pull_plan.ts";

/** Credentials of the pod that are tried at one endpoint, and as many of the keyring: registries count wrong logins. */
const MAX_TRIED = 8;

interface InspectorDeps {
  readonly planner: PullPlanner;
  readonly keyring: Keyring;
  readonly cached: Pick<CachedInspector, "inspect">;
  readonly clock: Clock;
}

/** Adds the pull plan and the credentials to a request before anything is keyed by it. What policy forbids is refused here. */
export class Inspector {
  readonly #deps: InspectorDeps;

  constructor(deps: InspectorDeps) {
    this.#deps = deps;
  }

  /** Never rejects except when the signal aborts: a failure is an {@link Inspection}. */
  async inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { planner, keyring, cached, clock } = this.#deps;
    const { image, callers } = request;
    const plan = planner.plan(image);
    if (plan.kind === "refused") {
      const inspection = { kind: "failed", failure: plan.failure } as const;
      return reportWithoutRequests({ inspection, resolved: image, verifiedAtMs: clock.nowMs(), source: "registry" });
    }
    let leftOut = 0;
    // What matches no endpoint is left out, so no cache is keyed by it.
    const endpoints = await Promise.all(plan.endpoints.map(async (endpoint): Promise<PlannedEndpoint> => {
      const own = distinct(matchPullSecrets(request.credentials, endpoint));
      const shared = distinct(await keyring.lookup({ ...endpoint, callers }, signal));
      for (const { length } of [own, shared]) leftOut += Math.max(0, length - MAX_TRIED);
      return { ...endpoint, credentials: distinct([...own.slice(0, MAX_TRIED), ...shared.slice(0, MAX_TRIED)]) };
    }));
    const credentials = distinct(endpoints.flatMap((endpoint) => endpoint.credentials));
    const planned = { ...request, reference: plan.reference, credentials, endpoints, log: new RequestLog() };
    const report = await cached.inspect(planned, signal);
    return leftOut === 0 ? report : withLeftOut(report, leftOut);
  }
}

function distinct(credentials: readonly Credential[]): readonly Credential[] {
  return [...new Map(credentials.map((one) => [fingerprintWithScope(one), one] as const)).values()];
}

/** Where no credential worked, one that was not tried might have. */
function withLeftOut(report: InspectionReport, leftOut: number): InspectionReport {
  const { inspection } = report;
  if (inspection.kind !== "failed" || inspection.failure.reason !== "Unauthorized") return report;
  const { failure } = inspection;
  const message = `${failure.message} ${leftOut} more credentials match; at most ${MAX_TRIED} are tried.`;
  return { ...report, inspection: { kind: "failed", failure: { ...failure, message } } };
}
