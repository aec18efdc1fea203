// Metadata of any object, parsed: what is absent is empty.
import type { KubeObject, OwnerReference } from "../k8s/types.ts";
import { parseTime } from "./time.ts";

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
