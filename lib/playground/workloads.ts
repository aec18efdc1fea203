// The playground's only workload controller: a Deployment becomes that many pods, its deletion takes them along.
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import { errorText, type Logger } from "../log.ts";
import type { Cluster } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { deleteObject } from "./delete_object.ts";
import { isEqualJson, listAt, numberAt, objectAt, textAt } from "./json_value.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import type { StoreChange } from "./store.ts";

/**
 * Follows Deployments until disposed; no ReplicaSets, no rolling update: only new pods follow a changed template.
 * Pods pass admission like any other, so this works one Deployment after the other in the background.
 */
export function openWorkloads(cluster: Cluster, options: { readonly log: Logger }): AsyncDisposable {
  const waiting = new Map<string, StoreChange>();
  let work: Promise<void> = Promise.resolve();
  let closed = false;
  const drain = async (key: string): Promise<void> => {
    const change = waiting.get(key);
    waiting.delete(key);
    if (change === undefined || closed) return;
    try {
      await reconcile(cluster, change.object);
    } catch (error) {
      options.log.warn("playground cannot scale a deployment", { deployment: key, error: errorText(error) });
    }
  };
  const unsubscribe = cluster.store.subscribe((change) => {
    const deployment = concernedDeployment(cluster, change);
    if (deployment === undefined) return;
    const key = keyOf(deployment.object);
    const queued = waiting.has(key);
    waiting.set(key, deployment);
    if (!queued) work = work.then(() => drain(key));
  });
  return {
    [Symbol.asyncDispose]: async () => {
      closed = true;
      unsubscribe();
      await work;
    },
  };
}

/** The Deployment that a write concerns: itself, or the owner of a pod that changed. */
function concernedDeployment(cluster: Cluster, change: StoreChange): StoreChange | undefined {
  if (change.type.plural === Resource.deployments.plural) return change;
  if (change.type.plural !== Resource.pods.plural) return undefined;
  const owner = listAt(change.object, "metadata", "ownerReferences").find((each) =>
    textAt(each, "kind") === "Deployment"
  );
  const name = textAt(owner, "name");
  const object = name === undefined
    ? undefined
    : cluster.store.get(Resource.deployments, `${change.object.metadata.namespace ?? ""}/${name}`);
  return object === undefined ? undefined : { ...change, type: Resource.deployments, object };
}

async function reconcile(cluster: Cluster, seen: KubeObject): Promise<void> {
  const deployment = cluster.store.get(Resource.deployments, keyOf(seen));
  const owned = cluster.store.list(Resource.pods).filter((pod) =>
    listAt(pod, "metadata", "ownerReferences").some((owner) => textAt(owner, "uid") === seen.metadata.uid)
  );
  const living = owned.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  const wanted = deployment?.metadata.uid === seen.metadata.uid ? numberAt(deployment, "spec", "replicas") ?? 1 : 0;
  const { namespace } = seen.metadata;
  for (const { metadata: { name } } of living.slice(wanted)) {
    await deleteObject(cluster, podKind(), { namespace, name });
  }
  for (let missing = wanted - living.length; missing > 0; missing--) {
    await createObject(cluster, podKind(), { namespace, body: renderPod(seen) });
  }
  reportStatus(cluster, seen, living.slice(0, wanted));
}

function podKind(): ServedKind {
  const kind = SERVED_KINDS.find((each) => each.plural === Resource.pods.plural);
  if (kind === undefined) throw new Error('Cannot create pods: the playground does not serve the kind "Pod".');
  return kind;
}

function renderPod(deployment: KubeObject): unknown {
  const template = objectAt(deployment, "spec", "template");
  const { name, uid } = deployment.metadata;
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid, controller: true, blockOwnerDeletion: true };
  const metadata = { ...objectAt(template, "metadata"), generateName: `${name}-`, ownerReferences: [owner] };
  return { metadata, spec: objectAt(template, "spec") };
}

function reportStatus(cluster: Cluster, seen: KubeObject, pods: readonly KubeObject[]): void {
  const current = cluster.store.get(Resource.deployments, keyOf(seen));
  if (current === undefined || current.metadata.uid !== seen.metadata.uid) return;
  const readyReplicas = pods.filter((pod) => {
    const statuses = listAt(pod, "status", "containerStatuses");
    return statuses.length > 0 &&
      statuses.every((status) => textAt(status, "state", "running", "startedAt") !== undefined);
  }).length;
  const status = { observedGeneration: current.metadata.generation, replicas: pods.length, readyReplicas };
  if (!isEqualJson(status, current.status)) cluster.store.put(Resource.deployments, { ...current, status });
}
