// Watches the pods of a burst and notes when each is without Archway's gate.
import { systemClock } from "../../lib/clock.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { isGated } from "../../lib/placement/decide/pod/constraints.ts";
import { parsePod } from "../../lib/placement/decide/pod/pod_view.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { openTestApi } from "../support/cluster_api.ts";

export interface BurstWatch extends AsyncDisposable {
  created(name: string): void;
  released(): number;
  /** For each pod that was ever seen gated: from its creation's answer until its release was seen. */
  gateTimesMs(): Iterable<number>;
}

/** Follows the pods of a namespace, or of all; their names must differ. */
export async function watchBurst(cluster: ClusterAccess, selection: PodSelection): Promise<BurstWatch> {
  const createdMs = new Map<string, number>();
  const gated = new Set<string>();
  const releasedMs = new Map<string, number>();
  const following = await followPods(cluster, selection, (name, holdsGate) => {
    if (holdsGate) gated.add(name);
    else if (!releasedMs.has(name)) releasedMs.set(name, performance.now());
  });
  return {
    created: (name) => void createdMs.set(name, performance.now()),
    released: () => releasedMs.size,
    gateTimesMs: () =>
      [...gated].map((name) => Math.max(0, (releasedMs.get(name) ?? NaN) - (createdMs.get(name) ?? NaN))),
    [Symbol.asyncDispose]: () => following[Symbol.asyncDispose](),
  };
}

/** All pods, unless it says otherwise. */
interface PodSelection {
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/**
 * Follows pods by Archway's own reflector over an admin's connection until it is disposed. Reports for each change whether the pod
 * has {@link SCHEDULING_GATE}.
 */
export async function followPods(
  cluster: ClusterAccess,
  selection: PodSelection,
  onPod: (name: string, holdsGate: boolean, namespace: string) => void,
): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const api = undo.use(openTestApi(await readKubeconfigAccess(cluster.kubeconfigFile, { clock: systemClock })));
  const reflector = new Reflector({
    retain: { kind: "all" },
    api,
    resource: Resource.pods,
    ...selection,
    parse: parsePod,
    onChange: ({ kind, value }) => {
      if (kind === "apply") onPod(value.name, isGated(value), value.namespace);
    },
    clock: systemClock,
    log: silentLogger,
    name: `burst ${SCHEDULING_GATE}`,
  });
  const stop = new AbortController();
  const following = reflector.run(stop.signal);
  undo.defer(async () => {
    stop.abort();
    await following;
  });
  await reflector.synced(stop.signal);
  return undo.move();
}
