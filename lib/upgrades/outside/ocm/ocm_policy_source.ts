// The cluster manager as a source of policies: the earliest upgrade that is ordered and to be carried out.
import { isActionable, orderPolicies, specOfPolicy } from "../../decide/policy/ocm_policy.ts";
import type { PolicyResult } from "../../decide/policy/refresh_plan.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { PolicySource } from "../policy/policy_sync.ts";
import type { OcmClient } from "./ocm_client.ts";

export interface OcmPolicySourceOptions {
  readonly client: Pick<OcmClient, "cluster" | "policies" | "policyState">;
  /** `upgradeType` of the configuration. */
  readonly type: "OSD" | "ARO";
}

/** The state of each policy is a request: those that are no longer wanted are few. */
const MAX_STATES = 20;

export function openOcmPolicySource({ client, type }: OcmPolicySourceOptions): PolicySource {
  return {
    onNone: "remove",
    fetch: async (signal): Promise<PolicyResult> => {
      const cluster = await client.cluster(signal);
      const policies = orderPolicies(await client.policies(cluster.id, signal));
      for (const policy of policies.slice(0, MAX_STATES)) {
        const { value } = await client.policyState({ clusterId: cluster.id, policyId: policy.id }, signal);
        if (!isActionable(value)) continue;
        const spec = specOfPolicy(policy, { cluster, type });
        if (spec !== undefined) return { kind: "desired", spec };
        // An answer of "none" would delete the plan.
        throw new UpstreamError("Cannot use the policy of the cluster manager: its version is no version.", {
          fault: "malformed",
        });
      }
      return { kind: "none" };
    },
  };
}
