// Completes a request with its pull plan and credentials, before anything is keyed by it. What policy forbids is refused here.
import type { Clock } from "../clock.ts";
import { matchPullSecrets } from "./credentials/match.ts";
import type { Credential, Keyring } from "./credential.ts";
import { fingerprintWithScope } from "./fingerprint.ts";
import {
  type InspectionReport,
  type InspectionRequest,
  type Inspector,
  type PlannedRequest,
  reportWithoutRequests,
} from "./inspector.ts";
import { RequestLog } from "./request_log.ts";
import type { Endpoint, PullPlanner } from "./pull_plan.ts";

/** Credentials tried at one endpoint, of the pod and of the keyring: registries count wrong logins. */
const MAX_TRIED = 8;

/** Tries for each endpoint first the pod's credentials, then the keyring's. Those that match none are left out, so no cache is keyed by them. */
export function withKeyring(
  inner: Inspector<PlannedRequest>,
  { planner, keyring, clock }: { readonly planner: PullPlanner; readonly keyring: Keyring; readonly clock: Clock },
): Inspector {
  async function choose(
    { credentials, callers }: InspectionRequest,
    endpoints: readonly Endpoint[],
    signal: AbortSignal,
  ): Promise<{ readonly credentials: readonly Credential[]; readonly leftOut: number }> {
    const lists = await Promise.all(endpoints.map(async (endpoint) => [
      distinct(matchPullSecrets(credentials, endpoint)),
      distinct(await keyring.lookup({ ...endpoint, callers }, signal)),
    ]));
    return {
      credentials: distinct(lists.flat().flatMap((list) => list.slice(0, MAX_TRIED))),
      leftOut: lists.flat().reduce((sum, { length }) => sum + Math.max(0, length - MAX_TRIED), 0),
    };
  }

  return {
    inspect: async (request, signal) => {
      const plan = planner.plan(request.image);
      if (plan.kind === "refused") {
        const inspection = { kind: "failed", failure: plan.failure } as const;
        const refused = { inspection, resolved: request.image, verifiedAtMs: clock.nowMs() };
        return reportWithoutRequests({ ...refused, source: "registry" });
      }
      const { reference, endpoints } = plan;
      const { credentials, leftOut } = await choose(request, endpoints, signal);
      const log = new RequestLog();
      const report = await inner.inspect({ ...request, reference, credentials, endpoints, log }, signal);
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
