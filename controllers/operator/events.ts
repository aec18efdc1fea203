// Events of the operator: in Archway's namespace, about the cluster config, as the MTO posts them.
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import type { OperatorDeps } from "./deps.ts";

/** Posts an event about the cluster config. The config has no namespace; its events name ours, where they lie. */
export function recordConfigEvent(
  deps: OperatorDeps,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  const { namespace } = deps.settings;
  const object = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME, namespace });
  deps.events.record({ object, ...event });
}
