// The source `LOCAL`: what is written in the cluster is what is wanted.
import { localPolicyOf } from "../../upgrades/policy/local_policy.ts";
import type { PolicySource } from "./policy_sync.ts";

/** The source. It never has the object created, replaced or deleted. */
export const LOCAL_POLICY_SOURCE: PolicySource = {
  onNone: "keep",
  fetch: (_signal, current) => Promise.resolve(localPolicyOf(current)),
};
