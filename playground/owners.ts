// Who owns whom in the cluster, and a loop for what acts on owners: one after the other, as their writes pass admission.
import { apiVersionOf, keyOf, type KubeObject, type OwnerReference } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";
import type { ObjectStore, StoreChange } from "./store.ts";

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

export interface OwnerLoop {
  /** The owners whose turn a write calls for. */
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
