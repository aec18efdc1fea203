// Events of the operator: in Archway's namespace, about the cluster config, as the reference posts them (operator §2.1).
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import type { OperatorParts } from "./parts.ts";

/** The cluster config as an event's object: it has no namespace, its events live in ours. */
export function configReference(namespace: string): KubeObject {
  return {
    apiVersion: `${Resource.clusterConfigs.group}/${Resource.clusterConfigs.version}`,
    kind: Resource.clusterConfigs.kind,
    metadata: { name: CLUSTER_CONFIG_NAME, namespace },
  };
}

/** Posts an event about the cluster config. */
export function recordConfigEvent(
  parts: OperatorParts,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  parts.events.record({ object: configReference(parts.settings.namespace), ...event });
}
