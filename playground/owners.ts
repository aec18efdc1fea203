// Owner references: a loop for what acts on owners, and the garbage collector, which deletes dependents of an owner
// that is deleted in the foreground.
import { apiVersionOf, keyOf, type KubeObject, type OwnerReference } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import type { ObjectStore, StoreChange } from "./store.ts";
import { type Cluster, withMetadata } from "./cluster.ts";
import { deleteObject, storeObject } from "./delete_object.ts";

export interface Stored {
  readonly kind: ServedKind;
  readonly object: KubeObject;
}

export function ownersOf(store: ObjectStore, { metadata }: KubeObject): readonly Stored[] {
  const { namespace = "", ownerReferences = [] } = metadata;
  return ownerReferences.flatMap(({ apiVersion, kind: kindName, name, uid }) => {
    const kind = SERVED_KINDS.find((each) => each.kind === kindName && apiVersionOf(each) === apiVersion);
    if (kind === undefined) return [];
    const object = store.get(kind, kind.namespaced ? `${namespace}/${name}` : name);
    return object?.metadata.uid === uid && object !== undefined ? [{ kind, object }] : [];
  });
}

export function referenceTo(owner: string, { metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ uid }) => uid === owner);
}

interface OwnerLoop {
  readonly concerned: (change: StoreChange) => readonly Stored[];
  readonly reconcile: (owner: Stored) => Promise<void>;
  /** Logs what fails; the next write calls for another try. */
  readonly log: Logger;
}

export function followOwners(store: ObjectStore, { concerned, reconcile, log }: OwnerLoop): AsyncDisposable {
  const waiting = new Map<string, Stored>();
  let work = Promise.resolve();
  const turn = async (uid: string): Promise<void> => {
    const owner = waiting.get(uid);
    waiting.delete(uid);
    if (owner === undefined) return;
    try {
      await reconcile(owner);
    } catch (error) {
      log.warn("playground cannot act on an owner", { object: keyOf(owner.object), error: errorText(error) });
    }
  };
  const unsubscribe = store.subscribe((change) => {
    for (const owner of concerned(change)) {
      const { uid = "" } = owner.object.metadata;
      if (!waiting.has(uid)) work = work.then(() => turn(uid));
      waiting.set(uid, owner);
    }
  });
  return {
    [Symbol.asyncDispose]: async () => {
      unsubscribe();
      waiting.clear();
      await work;
    },
  };
}

const FOREGROUND = "foregroundDeletion";

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
