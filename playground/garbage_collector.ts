// The playground's garbage collector. What an object owns goes after it; where it leaves with the finalizer `foregroundDeletion`,
// before it.
import { keyOf } from "../lib/k8s/types.ts";
import type { Logger } from "../lib/log.ts";
import { type Cluster, withMetadata } from "./cluster.ts";
import { deleteObject, storeObject } from "./delete_object.ts";
import { SERVED_KINDS } from "./kinds.ts";
import { followOwners, ownersOf, referenceTo, type Stored } from "./owners.ts";
import type { ObjectStore } from "./store.ts";

const FOREGROUND = "foregroundDeletion";

/** Follows all objects until disposed. */
export function openGarbageCollector(cluster: Cluster, { log }: { readonly log: Logger }): AsyncDisposable {
  const { store } = cluster;
  return followOwners(store, {
    concerned: ({ kind: what, type, object }) => {
      const kind = SERVED_KINDS.find(({ group, plural }) => group === type.group && plural === type.plural);
      const own = kind === undefined ? [] : [{ kind, object }];
      if (what !== "DELETED") return own.filter(leavesInForeground);
      return [...own, ...ownersOf(store, object).filter(leavesInForeground)];
    },
    reconcile: (owner) => collect(cluster, owner),
    log,
  });
}

function leavesInForeground({ object: { metadata } }: Stored): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
}

/** Deletes what the object alone owns; takes the finalizer off when nothing is left that blocks the owner. */
async function collect(cluster: Cluster, { kind, object: { metadata } }: Stored): Promise<void> {
  const { store } = cluster;
  const { uid = "" } = metadata;
  for (const { kind: each, object } of dependentsOf(store, uid)) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const ownerReferences = object.metadata.ownerReferences?.filter((reference) => reference.uid !== uid) ?? [];
    const { namespace, name } = object.metadata;
    if (ownerReferences.length > 0) store.put(each, withMetadata(object, { ownerReferences }));
    else await deleteObject(cluster, each, { namespace, name, uid: object.metadata.uid });
  }
  const object = store.get(kind, keyOf({ metadata }));
  if (object === undefined || object.metadata.uid !== uid || !leavesInForeground({ kind, object })) return;
  if (dependentsOf(store, uid).some((each) => referenceTo(uid, each.object)?.blockOwnerDeletion === true)) return;
  const finalizers = object.metadata.finalizers?.filter((each) => each !== FOREGROUND) ?? [];
  storeObject(cluster, kind, withMetadata(object, { finalizers }));
}

function dependentsOf(store: ObjectStore, owner: string): readonly Stored[] {
  return SERVED_KINDS.flatMap((kind) => store.list(kind).map((object) => ({ kind, object })))
    .filter(({ object }) => referenceTo(owner, object) !== undefined);
}
