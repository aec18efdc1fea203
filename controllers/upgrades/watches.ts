// What makes the plan be reconciled before its time: changes of the plan, of the ClusterVersion, of pools and MachineSets.
import type { Change } from "../../lib/k8s/object_cache.ts";
import { KEPT } from "../../lib/k8s/kept.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { MachineName, Upgrades } from "../../lib/upgrades/names.ts";
import { wantsReconcile } from "../../lib/upgrades/decide/reconcile.ts";
import type { Runnable, UpgradesDeps } from "./deps.ts";

export function openUpgradeWatches(
  { readApi: api, clock, log, namespace }: Pick<UpgradesDeps, "readApi" | "clock" | "log" | "namespace">,
  onChange: () => void,
): readonly Runnable[] {
  const watch = (
    resource: ResourceType,
    { namespace, fieldSelector, wants = () => true }: {
      readonly namespace?: string;
      readonly fieldSelector?: string;
      readonly wants?: (change: Change<KubeObject>) => boolean;
    } = {},
  ): Runnable =>
    new Reflector<KubeObject>({
      ...{ api, resource, clock, log, name: resource.plural, parse: (object) => object },
      keep: KEPT.upgrades,
      ...namespace === undefined ? {} : { namespace },
      ...fieldSelector === undefined ? {} : { fieldSelector },
      onChange: (change) => wants(change) ? onChange() : undefined,
    });
  const plan = `metadata.name=${Upgrades.config}`;
  return [
    watch(Resource.upgradeConfigs, { namespace, fieldSelector: plan, wants: isOfOthers }),
    watch(Resource.clusterVersions),
    watch(Resource.machineConfigPools),
    watch(Resource.machineSets, { namespace: MachineName.namespace }),
  ];
}

/** Not a write of the status, which is a reconcile's own. */
function isOfOthers(change: Change<KubeObject>): boolean {
  if (change.kind === "delete" || change.previous === undefined) return true;
  return wantsReconcile({ before: change.previous, after: change.value });
}
