// Kueue's Workloads. Kueue chooses a flavor by the affinity of pod templates, so Archway narrows these before quota is
// reserved. Archway's admission check holds a Workload until its images are known, and requeues it on a wrong flavor.
import { findCondition, isTrue, parseConditions } from "../../vocabulary/condition.ts";
import { parseTime, renderTime } from "../../vocabulary/time.ts";
import { entryOf, isObject, type JsonObject, listAt, memberOf, objectAt, textAt, textMapAt } from "../../json.ts";
import { type JsonPatch, pointer } from "../../k8s/patch.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { ADMISSION_CHECK, NODE_ARCH_LABEL } from "../../names.ts";
import type { PlacementDecision } from "./decision_types.ts";
import { failureText } from "./failures.ts";
import { affinityOperations } from "./patch/affinity.ts";
import { changesOf } from "./patch/changes.ts";
import { allowedArchitectures, allows, hasRequiredArchitecture } from "./pod/constraints.ts";
import { archwaysRequirement } from "./pod/archways_terms.ts";
import { requiredArchitectures } from "./place.ts";
import { parsePod, type PodView } from "./pod/pod_view.ts";
import { decisionReason } from "./history/reason.ts";

interface PodSet {
  readonly name: string;
  readonly index: number;
  readonly template: PodView;
  /** Its assigned flavors; empty without quota. */
  readonly flavors: readonly string[];
}

/** A Workload that needs a decision. */
export interface KueueWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The name of its batch/v1 Job, whose template keeps the affinity for later Workloads. */
  readonly job: string | undefined;
  readonly podSets: readonly PodSet[];
  /** When it began to wait for its images (epoch ms): its creation or, with quota, the reservation. */
  readonly sinceMs: number;
  /** With quota its templates are immutable, and the check can be answered. */
  readonly hasQuota: boolean;
  /** The check, while it waits for an answer. */
  readonly check: { readonly index: number } | undefined;
}

/** Parses a Workload; undefined when there is nothing to decide: admitted, finished, given up, or not waiting. */
export function parseKueueWorkload(object: KubeObject): KueueWorkload | undefined {
  const { metadata, spec, status } = object;
  const { namespace = "", name, deletionTimestamp, resourceVersion = "", ownerReferences = [] } = metadata;
  const conditions = parseConditions(status);
  const isOver = ["Admitted", "Finished"].some((type) => isTrue(conditions, type));
  if (isOver || deletionTimestamp !== undefined || memberOf(spec, "active") === false) return undefined;
  const hasQuota = isTrue(conditions, "QuotaReserved");
  const check = parseCheck(status);
  // An evicted Workload keeps its quota briefly. An answer now would count for its next flavor.
  if (hasQuota && (check === undefined || isTrue(conditions, "Evicted"))) return undefined;
  const flavorsOf = parseFlavors(status);
  const podSets = (listAt(spec, "podSets") ?? []).flatMap((raw, index): readonly PodSet[] => {
    const template = templateOf(raw, namespace);
    const podSet = textAt(raw, "name");
    return template === undefined ? [] : [{ name: podSet, index, template, flavors: flavorsOf.get(podSet) ?? [] }];
  });
  const job = ownerReferences.find(({ apiVersion, kind }) => apiVersion === "batch/v1" && kind === "Job")?.name;
  const quotaMs = parseTime(findCondition(conditions, "QuotaReserved")?.lastTransitionTime);
  const sinceMs = quotaMs ?? parseTime(metadata.creationTimestamp) ?? 0;
  return { namespace, name, resourceVersion, job, podSets, sinceMs, hasQuota, check };
}

function parseCheck(status: unknown): KueueWorkload["check"] {
  const checks = listAt(status, "admissionChecks") ?? [];
  const index = checks.findIndex((check) => textAt(check, "name") === ADMISSION_CHECK);
  return textAt(checks[index], "state") === "Pending" ? { index } : undefined;
}

function parseFlavors(status: unknown): ReadonlyMap<string, readonly string[]> {
  const assignments = listAt(objectAt(status, "admission"), "podSetAssignments") ?? [];
  return new Map(
    assignments.filter(isObject).map((assignment) => {
      const flavors = Object.values(objectAt(assignment, "flavors") ?? {}).filter((name) => typeof name === "string");
      return [textAt(assignment, "name"), [...new Set(flavors)]] as const;
    }),
  );
}

function templateOf(podSet: unknown, namespace: string): PodView | undefined {
  const template = objectAt(podSet, "template");
  return template && parsePod({ metadata: template.metadata, spec: template.spec }, { namespace });
}

/** The node labels of a flavor, from its ResourceFlavor. */
export function flavorLabels(flavor: KubeObject | undefined): Readonly<Record<string, string>> {
  return textMapAt(flavor?.spec, "nodeLabels") ?? {};
}

interface KueueFacts {
  readonly workload: KueueWorkload;
  /** One per pod set, in order. */
  readonly decisions: readonly PlacementDecision[];
  /** Node labels by flavor. */
  readonly flavors: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

export type KueueStep =
  /** An image could not be read; retry later. */
  | { readonly kind: "wait"; readonly afterMs: number }
  | {
    readonly kind: "act";
    /** What the Workload's templates still lack, applied where it has no quota; the Job's template needs the same. */
    readonly workloadPatch: JsonPatch;
    readonly answer: CheckAnswer | undefined;
  };

/** `Retry` releases the quota and requeues the Workload after this time. */
type CheckAnswer =
  | { readonly state: "Ready"; readonly message: string }
  | { readonly state: "Retry"; readonly afterSeconds: number; readonly message: string };

/** The wait when no flavor fits (s): images may be pushed again. */
const NOWHERE_SECONDS = 60;
/** The wait before another flavor (s), during which the templates are narrowed. */
const OTHER_FLAVOR_SECONDS = 1;

export function decideKueueWorkload({ workload, decisions, flavors }: KueueFacts): KueueStep {
  const { podSets, check, hasQuota } = workload;
  const waits = decisions.flatMap((decision) => decision.kind === "retry" ? [decision.afterMs] : []);
  if (waits.length > 0) return { kind: "wait", afterMs: Math.min(...waits) };
  const workloadPatch = podSets.flatMap(({ template, index }, at) =>
    narrowTemplate(template, decisions[at], pointer("spec", "podSets", index, "template"))
  );
  if (check === undefined || !hasQuota) return { kind: "act", workloadPatch, answer: undefined };
  const isPinnedElsewhere = podSets.map(({ template }, index) => isMismatched(template, decisions[index]));
  const words = podSets.map(({ name }, index) =>
    `${name}: ${wordsOf(decisions[index])}${isPinnedElsewhere[index] ? ", which its template excludes" : ""}`
  ).join("; ");
  if (isPinnedElsewhere.includes(true) || decisions.some(({ kind }) => kind === "nowhere")) {
    return {
      kind: "act",
      workloadPatch,
      answer: { state: "Retry", afterSeconds: NOWHERE_SECONDS, message: words },
    };
  }
  const wrong = podSets.flatMap((podSet, index) =>
    podSet.flavors.filter((flavor) => isWrongFlavor(podSet.template, decisions[index], flavors.get(flavor) ?? {}))
  );
  if (wrong.length === 0) return { kind: "act", workloadPatch, answer: { state: "Ready", message: words } };
  const message = `${words}; not on flavor ${[...new Set(wrong)].join(", ")}`;
  return {
    kind: "act",
    workloadPatch,
    answer: { state: "Retry", afterSeconds: OTHER_FLAVOR_SECONDS, message },
  };
}

/** Narrows a template's own architectures to those of its images, so that Kueue does not retry the same flavor. */
export function narrowTemplate(template: PodView, decision: PlacementDecision | undefined, at: string): JsonPatch {
  // If no flavor fits, the check holds the Workload.
  if (decision === undefined || decision.kind === "nowhere" || isMismatched(template, decision)) return [];
  const { required } = changesOf(decision);
  const needed = requiredArchitectures(decision) ?? [];
  const candidates = [...new Set([...KNOWN_ARCHITECTURES, ...needed])];
  const isUsers = hasRequiredArchitecture(template) && archwaysRequirement(template) === undefined;
  const isNarrow = isUsers && allowedArchitectures(template, candidates)?.every((one) => needed.includes(one));
  const architecturesOf = isUsers ? (term: JsonObject) => candidates.filter((one) => allows(term, one)) : undefined;
  const operations = isNarrow ? [] : affinityOperations(template, { required, preferred: [], architecturesOf });
  return operations.map((operation) => ({ ...operation, path: at + operation.path }));
}

/** Whether the template excludes all architectures of its images. */
function isMismatched(template: PodView, decision: PlacementDecision | undefined): boolean {
  const needed = decision === undefined ? undefined : requiredArchitectures(decision);
  return needed !== undefined && allowedArchitectures(template, needed)?.length === 0;
}

/** Whether no node with the flavor's labels can run the pods. */
function isWrongFlavor(
  template: PodView,
  decision: PlacementDecision | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  const architecture = entryOf(labels, NODE_ARCH_LABEL);
  if (architecture === undefined) return false;
  const needed = decision === undefined ? undefined : requiredArchitectures(decision);
  return needed?.includes(architecture) === false || allowedArchitectures(template, [architecture])?.length === 0;
}

function wordsOf(decision: PlacementDecision | undefined): string {
  if (decision === undefined) return "no decision";
  if (decision.kind === "release" || decision.kind === "fallback" || decision.kind === "retry") {
    return failureText(decision.failed);
  }
  return requiredArchitectures(decision)?.join(", ") ?? decisionReason(decision);
}

/** The status patch that answers the check. It fails if the answer or the list of checks has changed. */
export function answerPatch({ check }: KueueWorkload, answer: CheckAnswer, nowMs: number): JsonPatch {
  if (check === undefined) return [];
  const at = pointer("status", "admissionChecks", check.index);
  return [
    { op: "test", path: `${at}/name`, value: ADMISSION_CHECK },
    { op: "test", path: `${at}/state`, value: "Pending" },
    { op: "replace", path: `${at}/state`, value: answer.state },
    { op: "add", path: `${at}/message`, value: answer.message },
    { op: "add", path: `${at}/lastTransitionTime`, value: renderTime(nowMs) },
    ...answer.state === "Retry"
      ? [{ op: "add", path: `${at}/requeueAfterSeconds`, value: answer.afterSeconds } as const]
      : [],
  ];
}
