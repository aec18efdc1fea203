// As serve does: whatever changes in the configs of either kind wakes the operator.
import { systemClock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";

/** One reflector a kind of config, to be run by the bench. */
export function openConfigWatches(api: KubeApi, onChange: () => void): readonly Reflector<string>[] {
  return [Resource.clusterConfigs, Resource.namespaceConfigs].map((resource) =>
    new Reflector({
      retain: { kind: "all" },
      api,
      resource,
      parse: ({ metadata }) => metadata.resourceVersion,
      onChange,
      clock: systemClock,
      log: silentLogger,
      name: resource.plural,
    })
  );
}
