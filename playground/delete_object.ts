// DELETE: preconditions, finalizers, the contents of namespaces. Pods have no grace: here they end at once.
import { keyOf, type KubeObject, Resource } from "../lib/k8s/types.ts";
import { type Cluster, findObject, type ObjectTarget, withMetadata } from "./cluster.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import { conflict } from "./status_error.ts";
import { renderTime } from "../lib/vocabulary/time.ts";

interface DeleteTarget extends ObjectTarget {
  /** Precondition: 409 when it is another one. */
  readonly uid?: string | undefined;
  /** Precondition: 409 when it is another one. */
  readonly resourceVersion?: string | undefined;
  readonly dryRun?: boolean;
}

/**
 * Deletes an object or marks it as leaving; gives its last form. Throws StatusError: 404, 409 precondition, or a
 * denial.
 */
export async function deleteObject(cluster: Cluster, kind: ServedKind, target: DeleteTarget): Promise<KubeObject> {
  const { name, uid, resourceVersion, dryRun = false } = target;
  const oldObject = findObject(cluster, kind, target);
  const attempt = { operation: "DELETE", kind, object: undefined, oldObject, subresource: undefined, dryRun } as const;
  await cluster.admission.validate(attempt);
  const current = findObject(cluster, kind, target);
  if (uid !== undefined && uid !== current.metadata.uid) {
    throw conflict(kind, name, "Precondition failed: UID does not match");
  }
  if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(kind, name, "Precondition failed: resourceVersion does not match");
  }
  if (dryRun) return current;
  if (kind.plural === Resource.namespaces.plural) removeContents(cluster, name);
  return leave(cluster, kind, current);
}

function isFree({ metadata: { finalizers = [] } }: KubeObject): boolean {
  return finalizers.length === 0;
}

/** Stores an object; removes one that is being deleted once no finalizer holds it. */
export function storeObject({ store }: Cluster, kind: ServedKind, object: KubeObject): KubeObject {
  const stored = store.put(kind, object);
  if (stored.metadata.deletionTimestamp !== undefined && isFree(stored)) store.remove(kind, keyOf(stored));
  return stored;
}

function leave({ store, clock }: Cluster, kind: ServedKind, current: KubeObject): KubeObject {
  if (isFree(current)) return store.remove(kind, keyOf(current)) ?? current;
  const { deletionTimestamp, generation = 1 } = current.metadata;
  if (deletionTimestamp !== undefined) return current;
  const leaving = { deletionTimestamp: renderTime(clock.nowMs()), generation: generation + 1 };
  return store.put(kind, withMetadata(current, leaving));
}

/** At once and without finalizers: a playground's namespace does not linger. */
function removeContents({ store }: Cluster, namespace: string): void {
  for (const kind of SERVED_KINDS.filter(({ namespaced }) => namespaced)) {
    const inside = store.list(kind).filter(({ metadata }) => metadata.namespace === namespace);
    for (const object of inside) store.remove(kind, keyOf(object));
  }
}
