// How the sample cluster of cluster.yaml moves to several architectures: states of its operators, and the plan.
import type { JsonObject } from "../../lib/json.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";

/** The release that is there and stays; only its payload changes. */
export const RELEASE = "4.20.5";
export const PAYLOAD = `quay.io/openshift-release-dev/ocp-release@sha256:${"a".repeat(64)}`;

export const POOLS = { master: ["master-1"], worker: ["worker-1", "worker-2", "worker-3"] } as const;
export type PoolName = keyof typeof POOLS;

/** Status of the ClusterVersion; `before` is the newest entry of its history so far. */
export function releaseStatus(
  state: "Completed" | "Partial",
  { at, before }: { readonly at: string; readonly before: unknown },
): JsonObject {
  const [completionTime, isProgressing] = state === "Partial" ? [null, "True"] : [at, "False"];
  return {
    desired: { version: RELEASE, image: PAYLOAD, architecture: "Multi" },
    history: [{ version: RELEASE, image: PAYLOAD, state, startedTime: at, completionTime }, before],
    conditions: conditions({
      Available: "True",
      Failing: "False",
      Progressing: isProgressing,
      ReleaseAccepted: "True",
    }),
  };
}

export const OPERATOR_VERSIONS = [
  { name: "operator", version: RELEASE },
  { name: "operator-image", version: PAYLOAD },
];

export function poolStatus(pool: PoolName, updated: number): JsonObject {
  const isDone = updated === POOLS[pool].length;
  return {
    configuration: { name: `rendered-${pool}-${isDone ? "several" : "one"}` },
    updatedMachineCount: updated,
    readyMachineCount: updated,
    conditions: conditions({ Updated: isDone ? "True" : "False", Updating: isDone ? "False" : "True" }),
  };
}

/** The same version, for several architectures, due now. */
export function samplePlan(upgradeAt: string): JsonObject {
  const desired = { version: RELEASE, channel: "stable-4.20", architecture: "Multi" };
  return {
    metadata: { namespace: Upgrades.namespace, name: Upgrades.config },
    spec: { type: "OSD", upgradeAt, PDBForceDrainTimeout: 60, desired },
  };
}

function conditions(states: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(states).map(([type, status]) => ({ type, status }));
}
