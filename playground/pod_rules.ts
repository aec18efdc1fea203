// What the API server refuses: names, labels and annotations of any object, broken pods at creation, and updates of pods beyond
// KEP-3838.
import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../lib/json.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import { listAt, objectAt, textAt, textsAt, valueAt } from "./json_value.ts";
import { type FieldCause, forbidden, refused } from "./status.ts";

const REQUIRED = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"] as const;
const TERMS = [...REQUIRED, "nodeSelectorTerms"] as const;
const TERMS_FIELD = `spec.${TERMS.join(".")}`;

/** What is wrong with a new pod; empty when it may be stored. */
export function checkNewPod({ spec }: KubeObject): readonly FieldCause[] {
  const containers = listAt(spec, "containers");
  const missing = containers.flatMap((container, index) =>
    ["name", "image"].filter((name) => textAt(container, name) === undefined)
      .map((name) => `spec.containers[${index}].${name}`)
  );
  if (containers.length === 0) missing.push("spec.containers");
  const hasTerms = valueAt(spec, ...REQUIRED) === undefined || listAt(spec, ...TERMS).length > 0;
  if (!hasTerms) missing.push(TERMS_FIELD);
  const causes = missing.map((field) => ({ reason: "FieldValueRequired", field, message: "Required value" }));
  if (listAt(spec, "schedulingGates").length === 0 || textAt(spec, "nodeName") === undefined) return causes;
  return [...causes, forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")];
}

/** What no update may do, or none of a gated pod: the first that holds of each field is what the client reads. */
interface UpdateRule {
  readonly cause: FieldCause;
  readonly allows: (before: JsonObject, after: JsonObject) => boolean;
}

const RULES: readonly UpdateRule[] = [
  {
    cause: forbidden("spec.schedulingGates", "only deletion is allowed, but found new scheduling gate"),
    allows: (before, after) => {
      const kept = listAt(before, "schedulingGates").map((gate) => textAt(gate, "name"));
      return listAt(after, "schedulingGates").every((gate) => kept.includes(textAt(gate, "name")));
    },
  },
  {
    cause: forbidden("spec.tolerations", "existing toleration can not be modified except its seconds"),
    allows: (before, after) =>
      listAt(before, "tolerations").every((old) => hasEqual(listAt(after, "tolerations"), old)),
  },
];

const RULES_OF_GATED: readonly UpdateRule[] = [
  {
    cause: refused("spec.nodeSelector", "only additions to spec.nodeSelector are allowed (no mutations)"),
    allows: (before, after) => {
      const now = textsAt(after, "nodeSelector");
      return Object.entries(textsAt(before, "nodeSelector")).every(([key, value]) => now[key] === value);
    },
  },
  {
    cause: refused(TERMS_FIELD, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"),
    allows: (before, after) =>
      valueAt(before, ...REQUIRED) === undefined || listAt(before, ...TERMS).length === listAt(after, ...TERMS).length,
  },
  {
    cause: refused(TERMS_FIELD, "only additions are allowed (no mutations or deletions), none to an empty term"),
    allows: (before, after) =>
      listAt(before, ...TERMS).every((term, index) => isNarrowed(term, valueAt(after, ...TERMS, index))),
  },
];

/** What an update may not do to a pod. Without gates only images, tolerations and the deadline may change. */
export function checkPodUpdate(before: KubeObject, after: KubeObject): readonly FieldCause[] {
  const [old, now] = [objectAt(before, "spec"), objectAt(after, "spec")];
  const isGated = listAt(old, "schedulingGates").length > 0;
  const rules = isGated ? [...RULES, ...RULES_OF_GATED] : RULES;
  const causes = rules.filter(({ allows }) => !allows(old, now)).map(({ cause }) => cause);
  if (isDeepStrictEqual(frozenPart(old, { isGated }), frozenPart(now, { isGated }))) return causes;
  return [...causes, OTHER_FIELDS];
}

const OTHER_FIELDS = forbidden(
  "spec",
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
);

function frozenPart(spec: JsonObject, { isGated }: { readonly isGated: boolean }): JsonObject {
  const { schedulingGates: _gates, tolerations: _tolerations, activeDeadlineSeconds: _deadline, ...rest } = spec;
  const imageless = (name: string): readonly unknown[] =>
    listAt(spec, name).map((container) => isObject(container) ? { ...container, image: "" } : container);
  const frozen = { ...rest, containers: imageless("containers"), initContainers: imageless("initContainers") };
  if (!isGated) return frozen;
  const { nodeAffinity: _nodeAffinity, ...affinity } = objectAt(rest, "affinity");
  return { ...frozen, nodeSelector: undefined, affinity };
}

function hasEqual(list: readonly unknown[], wanted: unknown): boolean {
  return list.some((each) => isDeepStrictEqual(each, wanted));
}

/** Whether each list of a term still begins with what it held. An empty term must stay empty. */
function isNarrowed(before: unknown, after: unknown): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  if (lists.every((name) => listAt(before, name).length === 0)) {
    return lists.every((name) => listAt(after, name).length === 0);
  }
  return lists.every((name) =>
    isDeepStrictEqual(listAt(before, name), listAt(after, name).slice(0, listAt(before, name).length))
  );
}

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
