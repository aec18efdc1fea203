// Completes a request with its pull plan and credentials, before anything is keyed by it. What policy forbids is refused here.
import type { Clock } from "../clock.ts";
import { matchPullSecrets } from "./credentials/match.ts";
import type { Credential, Keyring } from "./credential.ts";
import { fingerprintWithScope } from "./fingerprint.ts";
import { type InspectionReport, type Inspector, type PlannedRequest, reportWithoutRequests } from "./inspector.ts";
import { RequestLog } from "./request_log.ts";
import type { PlannedEndpoint, PullPlanner } from "./pull_plan.ts";

/** Credentials of the pod that are tried at one endpoint, and as many of the keyring: registries count wrong logins. */
const MAX_TRIED = 8;

/** Adds the keyring's credentials after the pod's, for each endpoint. What matches none is left out, so no cache is keyed by it. */
export function withKeyring(
  inner: Inspector<PlannedRequest>,
  { planner, keyring, clock }: { readonly planner: PullPlanner; readonly keyring: Keyring; readonly clock: Clock },
): Inspector {
  return {
    inspect: async (request, signal) => {
      const { image, callers } = request;
      const plan = planner.plan(image);
      if (plan.kind === "refused") {
        const inspection = { kind: "failed", failure: plan.failure } as const;
        return reportWithoutRequests({ inspection, resolved: image, verifiedAtMs: clock.nowMs(), source: "registry" });
      }
      const { reference } = plan;
      let leftOut = 0;
      const endpoints = await Promise.all(plan.endpoints.map(async (endpoint): Promise<PlannedEndpoint> => {
        const own = distinct(matchPullSecrets(request.credentials, endpoint));
        const shared = distinct(await keyring.lookup({ ...endpoint, callers }, signal));
        for (const { length } of [own, shared]) leftOut += Math.max(0, length - MAX_TRIED);
        return { ...endpoint, credentials: distinct([...own.slice(0, MAX_TRIED), ...shared.slice(0, MAX_TRIED)]) };
      }));
      const credentials = distinct(endpoints.flatMap((endpoint) => endpoint.credentials));
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
