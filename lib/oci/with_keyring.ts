// Completes a request before anything is keyed by it: the pull is planned, the credentials of cluster and node join those of
// the pod, what matches no endpoint of the image is dropped, and what policy forbids ends here.
import type { Clock } from "../clock.ts";
import { matchPullSecrets, scopeCovers } from "./credentials/match.ts";
import type { Credential, Keyring } from "./credential.ts";
import { fingerprintOfAll } from "./fingerprint.ts";
import type { InspectionReport, InspectionRequest, Inspector, PlannedRequest } from "./inspector.ts";
import { NO_REQUESTS } from "./request_log.ts";
import type { Endpoint, PullPlanner } from "./pull_plan.ts";
import type { InspectionFailure } from "./types.ts";

/**
 * The outermost inspector. Credentials arrive at `inner` in the order to try them: for each endpoint first the pod's, then
 * the keyring's. So a pull secret for another registry makes no difference to what is shared and cached.
 */
export function withKeyring(
  inner: Inspector<PlannedRequest>,
  { planner, keyring, clock }: { readonly planner: PullPlanner; readonly keyring: Keyring; readonly clock: Clock },
): Inspector {
  async function credentialsFor(
    request: InspectionRequest,
    endpoints: readonly Endpoint[],
    signal: AbortSignal,
  ): Promise<readonly Credential[]> {
    const { namespace } = request;
    const found = await Promise.all(endpoints.map(async (endpoint) => [
      ...matchPullSecrets(request.credentials, endpoint),
      ...(await keyring.lookup({ ...endpoint, namespace }, signal)).filter(({ scope }) => scopeCovers(scope, endpoint)),
    ]));
    return [
      ...new Map(found.flat().map((credential) => [fingerprintOfAll([credential]), credential] as const)).values(),
    ];
  }

  return {
    inspect: async (request, signal) => {
      const plan = planner.plan(request.image);
      if (plan.kind === "refused") return refusal(request.image, { failure: plan.failure, atMs: clock.nowMs() });
      const { endpoints } = plan;
      const credentials = await credentialsFor(request, endpoints, signal);
      return await inner.inspect({ ...request, credentials, endpoints }, signal);
    },
  };
}

function refusal(
  image: string,
  { failure, atMs }: { readonly failure: InspectionFailure; readonly atMs: number },
): InspectionReport {
  return {
    inspection: { kind: "failed", failure },
    resolved: image,
    verifiedAtMs: atMs,
    source: "registry",
    access: "public",
    requests: NO_REQUESTS,
    trace: [],
  };
}
