// What the API server refuses of any object's metadata: names, label keys and values, the size of annotations.
import type { KubeObject } from "../lib/k8s/types.ts";
import { textsAt } from "./json_value.ts";
import { type FieldCause, refused } from "./status.ts";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** RBAC names may hold any path segment: `system:controller:x`. */
const PATH_SEGMENT = /^[^/%]+$/;
const QUALIFIED_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const MAX_ANNOTATION_BYTES = 262_144;

/** What is wrong with an object's metadata; empty when it may be stored. */
export function checkMetadata(object: KubeObject): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const { name } = object.metadata;
  const names = String(object.apiVersion).startsWith("rbac.") ? PATH_SEGMENT : SUBDOMAIN;
  if (name.length > 253 || !names.test(name)) causes.push(refused("metadata.name", `"${name}" is no valid name`));
  for (const [key, value] of Object.entries(textsAt(object, "metadata", "labels"))) {
    if (!isQualifiedName(key)) causes.push(refused("metadata.labels", `"${key}" is no valid label key`));
    if (!LABEL_VALUE.test(value)) causes.push(refused("metadata.labels", `"${value}" is no valid label value`));
  }
  const annotations = Object.entries(textsAt(object, "metadata", "annotations"));
  for (const [key] of annotations) {
    if (!isQualifiedName(key)) causes.push(refused("metadata.annotations", `"${key}" is no valid annotation key`));
  }
  const bytes = annotations.reduce((sum, [key, value]) => sum + key.length + new TextEncoder().encode(value).length, 0);
  if (bytes > MAX_ANNOTATION_BYTES) {
    const message = `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`;
    causes.push({ reason: "FieldValueTooLong", field: "metadata.annotations", message });
  }
  return causes;
}

function isQualifiedName(key: string): boolean {
  const [first = "", second, ...more] = key.split("/");
  if (more.length > 0) return false;
  return second === undefined ? QUALIFIED_NAME.test(first) : SUBDOMAIN.test(first) && QUALIFIED_NAME.test(second);
}
