// Compares what two ways of rendering gave: as sets of objects, members in any order.
import assert from "node:assert/strict";
import { KEEP_ANNOTATION } from "../../../manifests/generate/chart.ts";
import { type ManifestObject, slugOf } from "../../../manifests/generate/kustomize.ts";

/** Asserts that a chart's objects are those of kustomize, but for the Namespace and the annotation that keeps CRDs. */
export function assertSameObjects(chart: readonly ManifestObject[], kustomize: readonly ManifestObject[]): void {
  const wanted = bySlug(kustomize.filter(({ kind }) => kind !== "Namespace"));
  const found = bySlug(chart.map(withoutKeep));
  assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort());
  for (const [slug, object] of Object.entries(wanted)) assert.deepEqual(found[slug], object, slug);
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
