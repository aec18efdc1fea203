// Compares what two ways of rendering gave: as sets of objects, members in any order, and so are volumes.
import assert from "node:assert/strict";
import { KEEP_ANNOTATION } from "../../../manifests/generate/chart.ts";
import { type ManifestObject, slugOf } from "../../../manifests/generate/kustomize.ts";

/** Asserts that a chart's objects are those of kustomize, but for the Namespace and the annotation that keeps CRDs. */
export function assertSameObjects(chart: readonly ManifestObject[], kustomize: readonly ManifestObject[]): void {
  const wanted = bySlug(kustomize.filter(({ kind }) => kind !== "Namespace"));
  const found = bySlug(chart.map(withoutKeep));
  assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort());
  for (const [slug, object] of Object.entries(wanted)) {
    assert.deepEqual(withSortedVolumes(found[slug]), withSortedVolumes(object), slug);
  }
}

/** Kustomize puts the volumes of a later component first, and its arguments last. */
function withSortedVolumes(value: unknown, name?: string): unknown {
  if (Array.isArray(value)) {
    const members = value.map((member) => withSortedVolumes(member));
    const isSet = name === "volumes" || name === "volumeMounts";
    return isSet ? members.toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1) : members;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedVolumes(member, key)]));
}

function bySlug(objects: readonly ManifestObject[]): Readonly<Record<string, ManifestObject>> {
  return Object.fromEntries(objects.map((object) => [slugOf(object), object]));
}

function withoutKeep(object: ManifestObject): ManifestObject {
  if (object.kind !== "CustomResourceDefinition") return object;
  const { annotations, ...metadata } = object.metadata;
  const others = Object.entries(annotations ?? {}).filter(([key]) => key !== KEEP_ANNOTATION);
  return {
    ...object,
    metadata: others.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(others) },
  };
}
