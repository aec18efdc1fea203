// The playground's workload controllers: Deployments and Jobs become pods, with a status. No ReplicaSets, no rolling
// update.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../lib/json.ts";
import { apiVersionOf, keyOf, type KubeObject, Resource } from "../lib/k8s/types.ts";
import type { Logger } from "../lib/log.ts";
import type { Cluster } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { deleteObject } from "./delete_object.ts";
import { listAtPath, numberAtPath, objectAtPath, textAtPath } from "./json_path.ts";
import { kindNamed, type ServedKind } from "./kinds.ts";
import { followOwners, ownersOf, referenceTo, type Stored } from "./owners.ts";
import { renderTime } from "../lib/vocabulary/time.ts";

export const JobLabel = { name: "batch.kubernetes.io/job-name", uid: "batch.kubernetes.io/controller-uid" } as const;

const POD = kindNamed("Pod");

interface Workload {
  readonly kind: ServedKind;
  readonly countOf: (owner: KubeObject) => number;
  readonly labelsOf: (owner: KubeObject) => JsonObject;
  readonly statusOf: (owner: KubeObject, pods: readonly KubeObject[], now: string) => JsonObject;
}

const WORKLOADS: readonly Workload[] = [
  {
    kind: kindNamed("Deployment"),
    countOf: (owner) => numberAtPath(owner, "spec", "replicas") ?? 1,
    labelsOf: () => ({}),
    statusOf: ({ metadata: { generation } }, pods) => ({
      observedGeneration: generation,
      replicas: pods.length,
      readyReplicas: pods.filter(isReady).length,
    }),
  },
  {
    kind: kindNamed("Job"),
    countOf: () => 1,
    labelsOf: ({ metadata: { name, uid } }) => ({ [JobLabel.name]: name, [JobLabel.uid]: uid }),
    statusOf: ({ status }, pods, now) => {
      const startTime = textAtPath(status, "startTime") ?? now;
      const isDone = pods.some((pod) => textAtPath(pod, "status", "phase") === "Succeeded");
      if (!isDone) return { startTime, active: pods.length };
      const completionTime = textAtPath(status, "completionTime") ?? now;
      const conditions = [{ type: "Complete", status: "True", lastTransitionTime: completionTime }];
      return { startTime, succeeded: 1, completionTime, conditions };
    },
  },
];

function isReady(pod: KubeObject): boolean {
  const statuses = listAtPath(pod, "status", "containerStatuses");
  return statuses.length > 0 &&
    statuses.every((status) => textAtPath(status, "state", "running", "startedAt") !== undefined);
}

/** Follows Deployments and Jobs until disposed. The garbage collector deletes the pods of owners that are gone. */
export function openWorkloads(cluster: Cluster, { log }: { readonly log: Logger }): AsyncDisposable {
  return followOwners(cluster.store, {
    concerned: ({ kind: what, type, object }) => {
      if (type.plural === POD.plural) return ownersOf(cluster.store, object);
      const kind = what === "DELETED"
        ? undefined
        : WORKLOADS.find(({ kind: { plural } }) => plural === type.plural)?.kind;
      return kind === undefined ? [] : [{ kind, object }];
    },
    reconcile: (owner) => reconcile(cluster, owner),
    log,
  });
}

function isOver(owner: KubeObject): boolean {
  return owner.metadata.deletionTimestamp !== undefined || listAtPath(owner, "status", "conditions").length > 0;
}

async function reconcile(cluster: Cluster, { kind, object: { metadata } }: Stored): Promise<void> {
  const { store, clock } = cluster;
  const workload = WORKLOADS.find((each) => each.kind === kind);
  const owner = store.get(kind, keyOf({ metadata }));
  if (workload === undefined || owner === undefined || isOver(owner)) return;
  const { namespace, uid = "" } = owner.metadata;
  const pods = store.list(Resource.pods).filter((pod) =>
    referenceTo(uid, pod) !== undefined && pod.metadata.deletionTimestamp === undefined
  );
  const count = workload.countOf(owner);
  for (const { metadata: { name } } of pods.slice(count)) await deleteObject(cluster, POD, { namespace, name });
  for (let missing = count - pods.length; missing > 0; missing--) {
    await createObject(cluster, POD, { namespace, body: renderPod(workload, owner) });
  }
  const status = workload.statusOf(owner, pods.slice(0, count), renderTime(clock.nowMs()));
  const current = store.get(kind, keyOf({ metadata }));
  if (current?.metadata.uid !== uid || isDeepStrictEqual(status, current.status)) return;
  store.put(kind, { ...current, status });
}

function renderPod({ kind, labelsOf }: Workload, owner: KubeObject): JsonObject {
  const template = objectAtPath(owner, "spec", "template");
  const { name, uid } = owner.metadata;
  const controller = { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true };
  const metadata = {
    ...objectAtPath(template, "metadata"),
    labels: { ...objectAtPath(template, "metadata", "labels"), ...labelsOf(owner) },
    generateName: `${name}-`,
    ownerReferences: [{ ...controller, blockOwnerDeletion: true }],
  };
  return { metadata, spec: objectAtPath(template, "spec") };
}
