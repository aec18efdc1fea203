// The source `LOCAL`: what is written in the cluster is what is wanted.
import type { ReadApi } from "../../k8s/api.ts";
import { readOptional } from "../../k8s/read_optional.ts";
import type { ResourceType } from "../../k8s/types.ts";
import { localPolicyOf } from "../../upgrades/policy/local_policy.ts";
import type { PolicySource } from "./policy_sync.ts";

/** Opens the source for the one UpgradeConfig. It never has the object created, replaced or deleted. */
export function openLocalPolicySource(
  { api, type, namespace, name }: {
    readonly api: ReadApi;
    readonly type: ResourceType;
    readonly namespace: string;
    readonly name: string;
  },
): PolicySource {
  return {
    onNone: "keep",
    fetch: async (signal) => localPolicyOf(await readOptional(api, { type, namespace, name, signal })),
  };
}
