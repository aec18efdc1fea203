// The playground's garbage collector, as far as deletion in the foreground goes: an object that leaves with the finalizer
// `foregroundDeletion` goes once what it owns has gone. What leaves without it takes nothing along.
import { apiVersionOf, keyOf, type KubeObject } from "../k8s/types.ts";
import { errorText, type Logger } from "../log.ts";
import { type Cluster, withMetadata } from "./cluster.ts";
import { deleteObject } from "./delete_object.ts";
import { listAt, numberAt, textAt, valueAt } from "./json_value.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import type { StoreChange } from "./store.ts";

const FOREGROUND = "foregroundDeletion";

/** An object with its kind. */
interface Owned {
  readonly kind: ServedKind;
  readonly object: KubeObject;
}

/** Follows all objects until disposed. Deletions pass admission, so it works on one owner after the other. */
export function openGarbageCollector(cluster: Cluster, { log }: { readonly log: Logger }): AsyncDisposable {
  const waiting = new Map<string, Owned>();
  let work: Promise<void> = Promise.resolve();
  let closed = false;
  const drain = async (uid: string): Promise<void> => {
    const owner = waiting.get(uid);
    waiting.delete(uid);
    if (owner === undefined || closed) return;
    try {
      await collect(cluster, owner);
    } catch (error) {
      log.warn("playground cannot delete what an object owns", {
        object: keyOf(owner.object),
        error: errorText(error),
      });
    }
  };
  const unsubscribe = cluster.store.subscribe((change) => {
    for (const owner of concernedOwners(cluster, change)) {
      const { uid = "" } = owner.object.metadata;
      const queued = waiting.has(uid);
      waiting.set(uid, owner);
      if (!queued) work = work.then(() => drain(uid));
    }
  });
  return {
    [Symbol.asyncDispose]: async () => {
      closed = true;
      unsubscribe();
      await work;
    },
  };
}

/** The object itself, or the owners of one that has gone: those of them that leave in the foreground. */
function concernedOwners(cluster: Cluster, { kind: what, type, object }: StoreChange): readonly Owned[] {
  const own = SERVED_KINDS.find(({ group, plural }) => group === type.group && plural === type.plural);
  const concerned = what === "DELETED" ? ownersOf(cluster, object) : own === undefined ? [] : [{ kind: own, object }];
  return concerned.filter(leavesInForeground);
}

function ownersOf(cluster: Cluster, { metadata }: KubeObject): readonly Owned[] {
  return listAt(metadata, "ownerReferences").flatMap((reference) => {
    const kind = SERVED_KINDS.find((each) =>
      each.kind === textAt(reference, "kind") && apiVersionOf(each) === textAt(reference, "apiVersion")
    );
    if (kind === undefined) return [];
    const name = textAt(reference, "name") ?? "";
    const { namespace = "" } = metadata;
    const object = cluster.store.get(kind, kind.namespaced ? `${namespace}/${name}` : name);
    return object !== undefined && object.metadata.uid === textAt(reference, "uid") ? [{ kind, object }] : [];
  });
}

function leavesInForeground({ object: { metadata } }: Owned): boolean {
  return metadata.deletionTimestamp !== undefined && listAt(metadata, "finalizers").includes(FOREGROUND);
}

/** Deletes what the object alone owns; takes the finalizer off when nothing is left that blocks the owner. */
async function collect(cluster: Cluster, { kind, object: { metadata } }: Owned): Promise<void> {
  const { uid = "" } = metadata;
  for (const { kind: each, object } of dependentsOf(cluster, uid)) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const others = listAt(object, "metadata", "ownerReferences").filter((one) => textAt(one, "uid") !== uid);
    const { namespace, name } = object.metadata;
    if (others.length > 0) cluster.store.put(each, withMetadata(object, { ownerReferences: others }));
    else await deleteObject(cluster, each, { namespace, name, uid: object.metadata.uid });
  }
  const current = cluster.store.get(kind, keyOf({ metadata }));
  if (current === undefined || current.metadata.uid !== uid || !leavesInForeground({ kind, object: current })) return;
  if (dependentsOf(cluster, uid).some(({ object }) => blocks(object, uid))) return;
  const rest = listAt(current, "metadata", "finalizers").filter((each) => each !== FOREGROUND);
  cluster.store.put(kind, withMetadata(current, { finalizers: rest.length === 0 ? undefined : rest }));
  const isOver = rest.length === 0 && (numberAt(current, "metadata", "deletionGracePeriodSeconds") ?? 0) === 0;
  if (isOver) cluster.store.remove(kind, keyOf(current));
}

function dependentsOf({ store }: Cluster, owner: string): readonly Owned[] {
  return SERVED_KINDS.flatMap((kind) => store.list(kind).map((object) => ({ kind, object })))
    .filter(({ object }) => referenceTo(object, owner) !== undefined);
}

function referenceTo(object: KubeObject, owner: string): unknown {
  return listAt(object, "metadata", "ownerReferences").find((reference) => textAt(reference, "uid") === owner);
}

function blocks(object: KubeObject, owner: string): boolean {
  return valueAt(referenceTo(object, owner), "blockOwnerDeletion") === true;
}
