// Watches the pods of a burst and notes when each is without Archway's gate.
import { systemClock } from "../../lib/clock.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { RestApi } from "../../lib/k8s/rest_api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { isGated } from "../../lib/placement/decide/pod/constraints.ts";
import { parsePod } from "../../lib/placement/decide/pod/pod_view.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";

export interface BurstWatch extends AsyncDisposable {
  created(name: string): void;
  released(): number;
  /** For each pod that was ever seen gated: from its creation's answer until its release was seen. */
  gateTimesMs(): Iterable<number>;
}

/** Follows the pods of a namespace, or of all; their names must differ. */
export async function watchBurst(cluster: ClusterAccess, namespace: string | undefined): Promise<BurstWatch> {
  const stop = new AbortController();
  const createdMs = new Map<string, number>();
  const gated = new Set<string>();
  const releasedMs = new Map<string, number>();
  const pods = await followPods(cluster, { namespace, labelSelector: undefined }, (name, holdsGate) => {
    if (holdsGate) gated.add(name);
    else if (!releasedMs.has(name)) releasedMs.set(name, performance.now());
  });
  const following = pods.run(stop.signal);
  await pods.synced(stop.signal);
  return {
    created: (name) => void createdMs.set(name, performance.now()),
    released: () => releasedMs.size,
    gateTimesMs: () =>
      [...gated].map((name) => Math.max(0, (releasedMs.get(name) ?? NaN) - (createdMs.get(name) ?? NaN))),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await following;
      await pods[Symbol.asyncDispose]();
    },
  };
}

/** Archway's own reflector over an admin's connection. Reports for each change whether the pod has {@link SCHEDULING_GATE}. */
export async function followPods(
  cluster: ClusterAccess,
  selection: { readonly namespace: string | undefined; readonly labelSelector: string | undefined },
  onPod: (name: string, holdsGate: boolean, namespace: string) => void,
): Promise<{ run(signal: AbortSignal): Promise<void>; synced(signal: AbortSignal): Promise<void> } & AsyncDisposable> {
  const clock = systemClock;
  const access = await readKubeconfigAccess(cluster.kubeconfigFile, { clock });
  const api = new RestApi(access, { clock, log: silentLogger, userAgent: "archway-bench" });
  const { namespace, labelSelector } = selection;
  const reflector = new Reflector({
    keep: { kind: "all" },
    api,
    resource: Resource.pods,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    parse: parsePod,
    onChange: ({ kind, value }) => {
      if (kind === "apply") onPod(value.name, isGated(value), value.namespace);
    },
    clock,
    log: silentLogger,
    name: `burst ${SCHEDULING_GATE}`,
  });
  return {
    run: (signal) => reflector.run(signal),
    synced: (signal) => reflector.synced(signal),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}
