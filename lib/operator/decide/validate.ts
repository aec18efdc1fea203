// Whether a config may be written or deleted. The first broken rule, in the order of the checks, gives the answer.
import { isDeepStrictEqual } from "node:util";
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { listAt, memberOf, numberAt, objectAt, textAt } from "../../json.ts";
import type { AdmissionWrite, Validation } from "../../vocabulary/admission.ts";
import {
  CLUSTER_SELECTOR_BOUNDS,
  parseSelector,
  SELECTOR_BOUNDS,
  type SelectorBounds,
} from "../../vocabulary/label_selector.ts";
import { FALLBACK_ANNOTATION } from "../../names.ts";

export interface ConfigName {
  /** Of the config; empty for the cluster config. */
  readonly namespace: string;
  readonly name: string;
}

export interface NamespaceConfigFacts {
  readonly clusterConfig: "absent" | "deleting" | "present";
  readonly siblings: readonly { readonly name: string; readonly priority: number }[];
}

/** Most names in a message: it is for users. */
const NAMES_SHOWN = 5;

/** Judges a ClusterPodPlacementConfig. `namespaceConfigs` matters for DELETE only. */
export function validateClusterConfig(write: AdmissionWrite, namespaceConfigs: readonly ConfigName[]): Validation {
  if (write.operation === "DELETE") return judgeClusterDeletion(namespaceConfigs);
  if (write.operation === "CONNECT" || keepsMeaning(write)) return allow("valid ClusterPodPlacementConfig");
  const spec = objectAt(write.object, "spec");
  const annotation = textAt(objectAt(objectAt(write.object, "metadata"), "annotations"), FALLBACK_ANNOTATION);
  const broken = duplicateProblem(spec, ".spec.plugins.nodeAffinityScoring.platforms") ??
    scoringProblem(spec) ??
    architectureProblem("spec.fallbackArchitecture", textAt(spec, "fallbackArchitecture")) ??
    architectureProblem(`annotation ${FALLBACK_ANNOTATION}`, annotation) ??
    selectorProblem("spec.namespaceSelector", memberOf(spec, "namespaceSelector"), CLUSTER_SELECTOR_BOUNDS);
  return broken === undefined ? allow("valid ClusterPodPlacementConfig") : forbid(broken);
}

export function validateNamespaceConfig(write: AdmissionWrite, facts: NamespaceConfigFacts): Validation {
  if (write.operation !== "CREATE" && write.operation !== "UPDATE") return allow("operation not explicitly handled");
  if (keepsMeaning(write)) return allow("valid PodPlacementConfig");
  if (facts.clusterConfig !== "present") return refuseWithoutClusterConfig(facts.clusterConfig);
  const spec = objectAt(write.object, "spec");
  const isEnabled = memberOf(scoringOf(spec), "enabled") === true;
  const duplicate = duplicateProblem(spec, "nodeAffinityScoring.platforms");
  const broken = (isEnabled ? duplicate : undefined) ??
    selectorProblem("spec.labelSelector", memberOf(spec, "labelSelector"), SELECTOR_BOUNDS) ??
    priorityProblem(write, facts);
  if (broken !== undefined) return forbid(broken);
  return allow(
    "valid PodPlacementConfig",
    duplicate === undefined ? [] : [`${duplicate}; it cannot be enabled like this`],
  );
}

/** An update that keeps the spec and the fallback annotation is always allowed, whatever they say. */
function keepsMeaning({ operation, object, oldObject }: AdmissionWrite): boolean {
  const annotation = (config: unknown): string =>
    textAt(objectAt(objectAt(config, "metadata"), "annotations"), FALLBACK_ANNOTATION);
  return operation === "UPDATE" && isDeepStrictEqual(memberOf(object, "spec"), memberOf(oldObject, "spec")) &&
    annotation(object) === annotation(oldObject);
}

function judgeClusterDeletion(namespaceConfigs: readonly ConfigName[]): Validation {
  if (namespaceConfigs.length === 0) return allow("no PodPlacementConfig exists");
  const names = namespaceConfigs.slice(0, NAMES_SHOWN).map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
  const more = namespaceConfigs.length > NAMES_SHOWN ? ", …" : "";
  return forbid(
    `Cannot delete ClusterPodPlacementConfig "cluster": local PodPlacementConfigs still exist (${names}${more}). ` +
      "Delete them first.",
  );
}

function refuseWithoutClusterConfig(state: "absent" | "deleting"): Validation {
  const message = state === "absent"
    ? "ClusterPodPlacementConfig does not exist: create it first"
    : "ClusterPodPlacementConfig is being deleted: create it again first";
  return { kind: "deny", code: 400, reason: "BadRequest", message };
}

function scoringOf(spec: unknown): unknown {
  return objectAt(objectAt(spec, "plugins"), "nodeAffinityScoring");
}

function duplicateProblem(spec: unknown, where: string): string | undefined {
  const names = (listAt(scoringOf(spec), "platforms") ?? []).map((platform) => textAt(platform, "architecture"));
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  return twice === undefined ? undefined : `duplicate architecture "${twice}" found in ${where}`;
}

/** Checks what the schema of v1beta1 says: a spec that is written through v1alpha1 has not passed that schema. */
function scoringProblem(spec: unknown): string | undefined {
  const scoring = scoringOf(spec);
  const platforms = listAt(scoring, "platforms") ?? [];
  if (scoring === undefined) return undefined;
  const faulty = platforms.find((platform) => {
    const weight = memberOf(platform, "weight");
    const isWeight = typeof weight === "number" && Number.isInteger(weight) && weight >= 1 && weight <= 100;
    return !isWeight || !KNOWN_ARCHITECTURES.some((known) => known === textAt(platform, "architecture"));
  });
  if (faulty !== undefined) {
    return `Cannot use ${JSON.stringify(faulty).slice(0, 100)} in .spec.plugins.nodeAffinityScoring.platforms: ` +
      `it needs one of ${KNOWN_ARCHITECTURES.join(", ")} and a weight from 1 to 100`;
  }
  return platforms.length > 0 ? undefined : "Cannot use .spec.plugins.nodeAffinityScoring: it names no platforms";
}

function architectureProblem(where: string, value: string): string | undefined {
  return value === "" || KNOWN_ARCHITECTURES.some((known) => known === value)
    ? undefined
    : `Cannot use "${value.slice(0, 100)}" as ${where}: it is none of ${KNOWN_ARCHITECTURES.join(", ")}`;
}

function selectorProblem(where: string, raw: unknown, bounds: SelectorBounds): string | undefined {
  const selector = parseSelector(raw, bounds);
  return selector.kind === "unparsable" ? `Cannot use ${where}: ${selector.message}` : undefined;
}

/** The priority must be unique in a namespace; an absent one is 0. */
function priorityProblem(write: AdmissionWrite, { siblings }: NamespaceConfigFacts): string | undefined {
  if (!setsPriority(write)) return undefined;
  const priority = priorityOf(write.object);
  const holder = siblings.find((other) => other.priority === priority && other.name !== write.name);
  return holder === undefined ? undefined : `priority ${priority} already used by "${holder.name}"`;
}

/** Whether a write gives a PodPlacementConfig a new priority: only then its siblings matter. */
export function setsPriority({ operation, object, oldObject }: AdmissionWrite): boolean {
  return operation !== "UPDATE" || priorityOf(object) !== priorityOf(oldObject);
}

export function priorityOf(config: unknown): number {
  return numberAt(objectAt(config, "spec"), "priority");
}

function allow(message: string, warnings: readonly string[] = []): Validation {
  return { kind: "allow", message, warnings };
}

function forbid(message: string): Validation {
  return { kind: "deny", code: 403, reason: "Forbidden", message };
}
