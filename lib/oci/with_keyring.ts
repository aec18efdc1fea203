// Completes a request before anything is keyed by it: plan and credentials; what policy forbids ends here.
import type { Clock } from "../clock.ts";
import { matchPullSecrets } from "./credentials/match.ts";
import type { Credential, Keyring } from "./credential.ts";
import { fingerprintWithScope } from "./fingerprint.ts";
import type { InspectionReport, InspectionRequest, Inspector, PlannedRequest } from "./inspector.ts";
import { NO_REQUESTS } from "./request_log.ts";
import type { Endpoint, PullPlanner } from "./pull_plan.ts";
import type { InspectionFailure } from "./types.ts";

/** Credentials tried at one endpoint, of the pod and of the keyring: registries count wrong logins. */
const MAX_TRIED = 8;

/** The order to try: for each endpoint first the pod's, then the keyring's. Others make no difference to caches. */
export function withKeyring(
  inner: Inspector<PlannedRequest>,
  { planner, keyring, clock }: { readonly planner: PullPlanner; readonly keyring: Keyring; readonly clock: Clock },
): Inspector {
  async function choose(
    { credentials, namespace }: InspectionRequest,
    endpoints: readonly Endpoint[],
    signal: AbortSignal,
  ): Promise<{ readonly credentials: readonly Credential[]; readonly leftOut: number }> {
    const lists = await Promise.all(endpoints.map(async (endpoint) => [
      distinct(matchPullSecrets(credentials, endpoint)),
      distinct(await keyring.lookup({ ...endpoint, namespace }, signal)),
    ]));
    return {
      credentials: distinct(lists.flat().flatMap((list) => list.slice(0, MAX_TRIED))),
      leftOut: lists.flat().reduce((sum, { length }) => sum + Math.max(0, length - MAX_TRIED), 0),
    };
  }

  return {
    inspect: async (request, signal) => {
      const plan = planner.plan(request.image);
      if (plan.kind === "refused") return refusal(request.image, { failure: plan.failure, atMs: clock.nowMs() });
      const { reference, endpoints } = plan;
      const { credentials, leftOut } = await choose(request, endpoints, signal);
      const report = await inner.inspect({ ...request, reference, credentials, endpoints }, signal);
      return leftOut === 0 ? report : withLeftOut(report, leftOut);
    },
  };
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
