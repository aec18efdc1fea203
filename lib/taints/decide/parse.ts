// Parses nodes, pods and DaemonSets. Malformed parts count as absent.
import { parseNode } from "../../vocabulary/node.ts";
import { type ArchTaint, parseTolerations } from "../../vocabulary/taint.ts";
import { isUsableArchitecture } from "../../arch.ts";
import { entryOf, isObject, type JsonObject, listAt, memberOf, objectAt, textAt, textMapAt } from "../../json.ts";
import { type IndexedRequirement, parseRequirement } from "../../vocabulary/label_selector.ts";
import { keyOf, type KubeObject } from "../../k8s/types.ts";
import { PodAnnotation, SCHEDULING_GATE } from "../../names.ts";
import { parseRecord } from "../../placement/decide/pod/record.ts";
import { covers } from "./tolerations.ts";
import type { RunsOn, TaintDaemonSet, TaintNode, TaintPod } from "./types.ts";

/** Most characters of a DaemonSet's tolerations, selector and affinity: 1 500 node names. Users can write 1.4 MB. */
const MAX_PLACING_LENGTH = 64 * 1024;
/** Labels and terms by which a DaemonSet selects nodes: each may be checked for every node. */
const MAX_CHECKS = 64;
/** Tolerations of a pod that may cover our taint. Users can write 20 000. */
const MAX_OWN_TOLERATIONS = 100;
/** Architectures that the decision on a pod names. Users can write a thousand. */
const MAX_ARCHITECTURES = 16;

/** Keeps taints as they are, so that a patch can test them. */
export function parseTaintNode(object: KubeObject): TaintNode {
  const { name, uid, resourceVersion, reportedArchitecture, labels, isDeleting } = parseNode(object);
  const taints = listAt(objectAt(object, "spec"), "taints")?.map((taint) => isObject(taint) ? taint : {});
  return { name, uid, resourceVersion, reportedArchitecture, labels, isDeleting, taints };
}

/** Undefined for a pod that gets no toleration: ended, mirror, gated, or with over a hundred tolerations of our key. */
export function parseTaintPod(object: KubeObject, { key }: Pick<ArchTaint, "key">): TaintPod | undefined {
  const { metadata } = object;
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const isOver = ["Succeeded", "Failed"].includes(textAt(status, "phase")) || metadata.deletionTimestamp !== undefined;
  const isMirror = (metadata.ownerReferences ?? []).some(({ kind }) => kind === "Node");
  const isGated = (listAt(spec, "schedulingGates") ?? []).some((gate) => textAt(gate, "name") === SCHEDULING_GATE);
  if (isOver || isMirror || isGated) return undefined;
  // Other tolerations are dropped, since these pods are kept in memory.
  const tolerations = parseTolerations(spec)?.filter((toleration) => ["", key].includes(toleration.key));
  if (tolerations !== undefined && tolerations.length > MAX_OWN_TOLERATIONS) return undefined;
  return {
    key: keyOf(object),
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    runsOn: parseRunsOn(object, textAt(spec, "nodeName")),
    tolerations,
    isShutOut: (listAt(status, "conditions") ?? []).some(isShutOut),
  };
}

export function parseTaintDaemonSet(object: KubeObject, rule: ArchTaint): TaintDaemonSet | undefined {
  const key = keyOf(object);
  const spec = objectAt(objectAt(objectAt(object, "spec"), "template"), "spec");
  if (spec === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const required = objectAt(
    objectAt(objectAt(spec, "affinity"), "nodeAffinity"),
    "requiredDuringSchedulingIgnoredDuringExecution",
  );
  const placing = [memberOf(spec, "tolerations"), memberOf(spec, "nodeSelector"), required];
  const { length } = JSON.stringify(placing);
  if (length > MAX_PLACING_LENGTH) return { kind: "oversized", key };
  const tolerations = parseTolerations(spec) ?? [];
  if (tolerations.some((each) => each.operator === "Exists" && covers(each, { rule, architecture: "" }))) {
    return undefined;
  }
  const covering = tolerations.filter((toleration) => covers(toleration, { rule, architecture: toleration.value }));
  const tolerated = new Set(covering.map(({ value }) => value));
  const selector = Object.entries(textMapAt(spec, "nodeSelector") ?? {})
    .map(([label, value]): IndexedRequirement => ({ key: label, operator: "In", values: new Set([value]) }));
  const terms = listAt(required, "nodeSelectorTerms")?.filter(isObject).map(requirementsOf);
  const checks = 1 + selector.length + (terms ?? []).reduce((sum, term) => sum + 1 + term.length, 0);
  if (checks > MAX_CHECKS) return { kind: "oversized", key };
  return { kind: "judged", key, tolerated, selector, terms, weight: checks + Math.floor(length / 1024) };
}

/** Fields and operators that are not evaluated here count as matching: at worst a node waits longer than it must. */
function requirementsOf(term: JsonObject): readonly IndexedRequirement[] {
  return (listAt(term, "matchExpressions") ?? []).map(parseRequirement).filter((parsed) => parsed !== undefined)
    .map((requirement) => ({ ...requirement, values: new Set(requirement.values) }));
}

const DECIDED: readonly string[] = ["place", "fallback", "nowhere"];

function parseRunsOn({ metadata }: KubeObject, node: string): RunsOn {
  if (node !== "") return { kind: "node", node };
  const record = parseRecord(entryOf(metadata.annotations, PodAnnotation.decision));
  if (record === undefined || !DECIDED.includes(record.decision)) return { kind: "any" };
  // The pod's owner can write the annotation: tolerations for unusable names would be refused, and tried forever.
  const architectures = [...new Set(record.architectures)].filter(isUsableArchitecture).slice(0, MAX_ARCHITECTURES);
  return { kind: "decided", architectures };
}

/** Any taint counts: since Kubernetes 1.35 the scheduler names no key (`node(s) had untolerated taint(s)`). */
function isShutOut(condition: unknown): boolean {
  return textAt(condition, "type") === "PodScheduled" && textAt(condition, "status") === "False" &&
    textAt(condition, "reason") === "Unschedulable" && textAt(condition, "message").includes("untolerated taint");
}
