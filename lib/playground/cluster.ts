// What the parts of the playground's cluster share: the store, the clock, the admission chain and the parsing of objects.
import type { Clock } from "../clock.ts";
import type { KubeObject } from "../k8s/types.ts";
import { isObject, type JsonObject, textAt } from "./json_value.ts";
import type { ServedKind } from "./kinds.ts";
import { badRequest } from "./status.ts";
import type { ObjectStore } from "./store.ts";

/** One write on its way to the store, as admission sees it. */
export interface AdmissionAttempt {
  /** What is being done. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** Kind of the object. */
  readonly kind: ServedKind;
  /** The object as it would be stored; undefined on DELETE. */
  readonly object: KubeObject | undefined;
  /** The stored object; undefined on CREATE. */
  readonly oldObject: KubeObject | undefined;
  /** `status`, or undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Whether nothing will be stored. */
  readonly dryRun: boolean;
}

/** The admission chain. Both throw a StatusError when a webhook denies or cannot be reached under `failurePolicy: Fail`. */
export interface Admission {
  /** The object after the mutating webhooks; runs before names, uid and validation, as on the real server. */
  mutate(attempt: AdmissionAttempt): Promise<KubeObject | undefined>;
  /** Calls the validating webhooks with the finished object. */
  validate(attempt: AdmissionAttempt): Promise<void>;
}

/** What verbs, scheduler and kubelet work on. */
export interface Cluster {
  /** All objects. */
  readonly store: ObjectStore;
  /** Stamps objects, times watches. */
  readonly clock: Clock;
  /** Called before each write of a client. */
  readonly admission: Admission;
}

/** Parses an object from a request body; its name may still be missing. Throws a 400 StatusError. */
export function parseKubeObject(value: unknown): KubeObject {
  if (!isObject(value)) throw badRequest("the body is no JSON object");
  const { metadata, ...rest } = value;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw badRequest("metadata is no JSON object");
  }
  const named: JsonObject & { readonly name: string } = { ...metadata, name: textAt(metadata, "name") ?? "" };
  return { ...rest, metadata: named };
}

/** The object with some metadata replaced; undefined members are dropped. */
export function withMetadata(object: KubeObject, changes: JsonObject): KubeObject {
  const metadata: JsonObject & { readonly name: string } = {
    ...object.metadata,
    ...changes,
    name: object.metadata.name,
  };
  return parseKubeObject({
    ...object,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)),
  });
}
