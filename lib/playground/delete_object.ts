// DELETE: preconditions, finalizers, the grace of running pods, the contents of namespaces.
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import { type Cluster, withMetadata } from "./cluster.ts";
import { listAt, numberAt, textAt, timestamp } from "./json_value.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import { conflict, notFound } from "./status.ts";

/** Which object, under which preconditions, with how much grace (seconds; pods only). */
export interface DeleteTarget {
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  /** Name of the object. */
  readonly name: string;
  /** Precondition: 409 when it is another one. */
  readonly uid?: string | undefined;
  /** Precondition: 409 when it is another one. */
  readonly resourceVersion?: string | undefined;
  /** Pods on a node only; default is what the pod says. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Do everything but delete. */
  readonly dryRun?: boolean;
}

/** Deletes an object or marks it as leaving; gives its last form. Throws StatusError: 404, 409 precondition, or a denial. */
export async function deleteObject(cluster: Cluster, kind: ServedKind, options: DeleteTarget): Promise<KubeObject> {
  const key = options.namespace === undefined ? options.name : `${options.namespace}/${options.name}`;
  const seen = cluster.store.get(kind, key);
  if (seen === undefined) throw notFound(kind, options.name);
  await cluster.admission.validate({
    operation: "DELETE",
    kind,
    object: undefined,
    oldObject: seen,
    subresource: undefined,
    dryRun: options.dryRun ?? false,
  });
  const current = cluster.store.get(kind, key);
  if (current === undefined) throw notFound(kind, options.name);
  if (options.uid !== undefined && options.uid !== current.metadata.uid) {
    throw conflict(kind, options.name, "Precondition failed: UID does not match");
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(kind, options.name, "Precondition failed: resourceVersion does not match");
  }
  if (options.dryRun === true) return current;
  if (kind.plural === Resource.namespaces.plural) removeContents(cluster, options.name);
  return leave(cluster, kind, { current, graceSeconds: graceOf(kind, current, options.gracePeriodSeconds) });
}

function graceOf(kind: ServedKind, object: KubeObject, asked: number | undefined): number {
  const running = kind.plural === Resource.pods.plural && (textAt(object, "spec", "nodeName") ?? "") !== "";
  return running ? asked ?? numberAt(object, "spec", "terminationGracePeriodSeconds") ?? 30 : 0;
}

function leave(
  cluster: Cluster,
  kind: ServedKind,
  options: { readonly current: KubeObject; readonly graceSeconds: number },
): KubeObject {
  const { current, graceSeconds } = options;
  const held = listAt(current, "metadata", "finalizers").length > 0;
  if (!held && graceSeconds === 0) return cluster.store.remove(kind, keyOf(current)) ?? current;
  const grace = numberAt(current, "metadata", "deletionGracePeriodSeconds");
  if (current.metadata.deletionTimestamp !== undefined && (grace ?? 0) <= graceSeconds) return current;
  const leavingAtMs = cluster.clock.nowMs() + graceSeconds * 1_000;
  return cluster.store.put(
    kind,
    withMetadata(current, {
      deletionTimestamp: current.metadata.deletionTimestamp ?? timestamp(leavingAtMs),
      deletionGracePeriodSeconds: graceSeconds,
      generation: (numberAt(current, "metadata", "generation") ?? 1) + 1,
    }),
  );
}

/** At once and without finalizers: a playground's namespace does not linger. */
function removeContents(cluster: Cluster, namespace: string): void {
  for (const kind of SERVED_KINDS.filter((each) => each.namespaced)) {
    for (const object of cluster.store.list(kind)) {
      if (object.metadata.namespace === namespace) cluster.store.remove(kind, keyOf(object));
    }
  }
}
