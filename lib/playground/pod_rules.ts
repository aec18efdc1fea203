// What the API server refuses of pods: broken ones at creation, and updates beyond KEP-3838.
import type { KubeObject } from "../k8s/types.ts";
import { isEqualJson, isObject, type JsonObject, listAt, objectAt, textAt, textsAt, valueAt } from "./json_value.ts";
import type { FieldCause } from "./status.ts";

const REQUIRED = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"] as const;
const TERMS_FIELD = `spec.${REQUIRED.join(".")}.nodeSelectorTerms`;

/** What is wrong with a new pod; empty when it may be stored. */
export function checkNewPod(pod: KubeObject): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const containers = listAt(pod, "spec", "containers");
  if (containers.length === 0) causes.push(required("spec.containers"));
  for (const [index, container] of containers.entries()) {
    if (textAt(container, "name") === undefined) causes.push(required(`spec.containers[${index}].name`));
    if (textAt(container, "image") === undefined) causes.push(required(`spec.containers[${index}].image`));
  }
  if (valueAt(pod, "spec", ...REQUIRED) !== undefined) {
    if (listAt(pod, "spec", ...REQUIRED, "nodeSelectorTerms").length === 0) {
      causes.push({
        reason: "FieldValueRequired",
        field: TERMS_FIELD,
        message: "Required value: must have at least one node selector term",
      });
    }
  }
  const gated = listAt(pod, "spec", "schedulingGates").length > 0;
  if (gated && textAt(pod, "spec", "nodeName") !== undefined) {
    causes.push(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return causes;
}

/** What an update may not do to a pod. Without gates only images, tolerations and the deadline may change. */
export function checkPodUpdate(before: KubeObject, after: KubeObject): readonly FieldCause[] {
  const oldSpec = objectAt(before, "spec");
  const newSpec = objectAt(after, "spec");
  const gated = listAt(oldSpec, "schedulingGates").length > 0;
  const causes = [...checkGates(oldSpec, newSpec), ...checkTolerations(oldSpec, newSpec)];
  if (gated) causes.push(...checkNodeSelector(oldSpec, newSpec), ...checkRequiredTerms(oldSpec, newSpec));
  if (!isEqualJson(frozenPart(oldSpec, { gated }), frozenPart(newSpec, { gated }))) {
    causes.push(forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    ));
  }
  return causes;
}

function required(field: string): FieldCause {
  return { reason: "FieldValueRequired", field, message: "Required value" };
}

function forbidden(field: string, message: string): FieldCause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${message}` };
}

function refused(field: string, message: string): FieldCause {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${message}` };
}

/** The part of a spec that no update may touch. */
function frozenPart(spec: JsonObject, options: { readonly gated: boolean }): JsonObject {
  const { schedulingGates: _gates, tolerations: _tolerations, activeDeadlineSeconds: _deadline, ...rest } = spec;
  const withoutImages = (list: unknown): unknown =>
    Array.isArray(list) ? list.map((item) => isObject(item) ? { ...item, image: "" } : item) : list;
  const frozen = {
    ...rest,
    containers: withoutImages(rest.containers),
    initContainers: withoutImages(rest.initContainers),
  };
  if (!options.gated) return frozen;
  const { nodeAffinity: _nodeAffinity, ...otherAffinity } = objectAt(rest, "affinity");
  return { ...frozen, nodeSelector: undefined, affinity: otherAffinity };
}

function checkGates(before: JsonObject, after: JsonObject): FieldCause[] {
  const kept = listAt(before, "schedulingGates").map((gate) => textAt(gate, "name"));
  const added = listAt(after, "schedulingGates").some((gate) => !kept.includes(textAt(gate, "name")));
  return added ? [forbidden("spec.schedulingGates", "only deletion is allowed, but found new scheduling gate")] : [];
}

function checkTolerations(before: JsonObject, after: JsonObject): FieldCause[] {
  const now = listAt(after, "tolerations");
  const lost = listAt(before, "tolerations").some((old) => !now.some((toleration) => isEqualJson(old, toleration)));
  return lost ? [forbidden("spec.tolerations", "existing toleration can not be modified except its seconds")] : [];
}

function checkNodeSelector(before: JsonObject, after: JsonObject): FieldCause[] {
  const now = textsAt(after, "nodeSelector");
  const lost = Object.entries(textsAt(before, "nodeSelector")).some(([key, value]) => now[key] !== value);
  return lost ? [refused("spec.nodeSelector", "only additions to spec.nodeSelector are allowed (no mutations)")] : [];
}

function checkRequiredTerms(before: JsonObject, after: JsonObject): FieldCause[] {
  if (valueAt(before, ...REQUIRED) === undefined) return [];
  const oldTerms = listAt(before, ...REQUIRED, "nodeSelectorTerms");
  const newTerms = listAt(after, ...REQUIRED, "nodeSelectorTerms");
  if (oldTerms.length !== newTerms.length) {
    return [refused(TERMS_FIELD, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")];
  }
  return oldTerms.flatMap((old, index) =>
    isNarrowed(old, newTerms[index]) ? [] : [
      refused(
        `${TERMS_FIELD}[${index}]`,
        "only additions are allowed (no mutations or deletions), none to an empty term",
      ),
    ]
  );
}

/** Whether each list of a term still begins with what it held. An empty term must stay empty. */
function isNarrowed(before: unknown, after: unknown): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  if (lists.every((name) => listAt(before, name).length === 0)) {
    return lists.every((name) => listAt(after, name).length === 0);
  }
  return lists.every((name) =>
    listAt(before, name).every((old, index) => isEqualJson(old, valueAt(after, name, index)))
  );
}
