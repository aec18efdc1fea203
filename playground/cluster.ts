// What the parts of the playground's cluster share: the store, the clock, the admission chain and the parsing of
// objects.
import type { Clock } from "../lib/clock.ts";
import { isObject, type JsonObject } from "../lib/json.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import { textAtPath } from "./json_path.ts";
import type { ServedKind } from "./kinds.ts";
import { badRequest, notFound } from "./status_error.ts";
import type { ObjectStore } from "./store.ts";

export interface AdmissionAttempt {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly kind: ServedKind;
  /** The object as it would be stored; undefined on DELETE. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
}

/**
 * The admission chain. Both throw a StatusError when a webhook denies or cannot be reached under `failurePolicy: Fail`.
 */
export interface AdmissionChain {
  /** The object after the mutating webhooks; runs before names, uid and validation, as on the real server. */
  mutate(attempt: AdmissionAttempt): Promise<KubeObject | undefined>;
  validate(attempt: AdmissionAttempt): Promise<void>;
}

export interface Cluster {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly admission: AdmissionChain;
}

export interface ObjectTarget {
  readonly namespace?: string | undefined;
  readonly name: string;
}

function stored({ store }: Cluster, kind: ServedKind, { namespace, name }: ObjectTarget): KubeObject | undefined {
  return store.get(kind, namespace === undefined ? name : `${namespace}/${name}`);
}

export function isStored(cluster: Cluster, kind: ServedKind, target: ObjectTarget): boolean {
  return stored(cluster, kind, target) !== undefined;
}

/** The stored object. Throws 404. */
export function findObject(cluster: Cluster, kind: ServedKind, target: ObjectTarget): KubeObject {
  const found = stored(cluster, kind, target);
  if (found === undefined) throw notFound(kind, target.name);
  return found;
}

/** Parses an object from a request body; its name may still be missing. Throws a 400 StatusError. */
export function requireKubeObject(value: unknown): KubeObject {
  if (!isObject(value)) throw badRequest("the body is no JSON object");
  const metadata = value["metadata"] ?? {};
  if (!isObject(metadata)) throw badRequest("metadata is no JSON object");
  const named: JsonObject & { readonly name: string } = { ...metadata, name: textAtPath(metadata, "name") ?? "" };
  return { ...value, metadata: named };
}

/** The object with some metadata replaced; undefined members are dropped. */
export function withMetadata(object: KubeObject, changes: JsonObject): KubeObject {
  const metadata = Object.entries({ ...object.metadata, ...changes }).filter(([, value]) => value !== undefined);
  return requireKubeObject({ ...object, metadata: Object.fromEntries(metadata) });
}
