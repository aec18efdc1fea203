// An object of any kind, and its metadata, parsed: what is absent is empty.
import { parseTime } from "./time.ts";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

export interface Meta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** 0 where it is not known. */
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly Pick<OwnerReference, "kind" | "name" | "uid">[];
  readonly isDeleting: boolean;
}

export function parseMeta({ metadata }: KubeObject): Meta {
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    createdMs: parseTime(metadata.creationTimestamp) ?? 0,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    owners: (metadata.ownerReferences ?? []).map(({ kind, name, uid }) => ({ kind, name, uid })),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}
