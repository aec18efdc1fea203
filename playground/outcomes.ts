// The outcomes of the sample pods: read from the pods alone, compared with their manifests. Pure.
import { parseConditions } from "../lib/vocabulary/condition.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import {
  AffinityLabel,
  EventReason,
  GateLabel,
  NO_SUPPORTED_ARCH,
  NODE_ARCH_LABEL,
  PodLabel,
  SCHEDULING_GATE,
} from "../lib/names.ts";
import { listAtPath, textAtPath, textMapAtPath } from "./json_path.ts";
import { EXPECTATION, type Expectation, type PodDecision } from "./samples.ts";
import { EXPECT_ANNOTATION } from "./sample_cluster.ts";

export interface SampleOutcome {
  readonly pod: string;
  readonly images: readonly string[];
  /** What the pod is constrained to, sorted; empty if it is not constrained, or to none. */
  readonly architectures: readonly string[];
  readonly decision: PodDecision;
  readonly node: string;
  readonly nodeArchitecture: string | undefined;
  readonly tolerates: readonly string[];
  /**
   * Message of the event that says that it runs a program of another architecture, or asks for one; undefined without
   * one.
   */
  readonly report: string | undefined;
  /** The expected outcome of the manifest; undefined for a pod that is no sample. */
  readonly expected: Expectation | undefined;
  /** Whether it ended as expected; true when nothing was expected. */
  readonly ok: boolean;
}

const REQUIRED = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"] as const;

export interface ObservedSample {
  readonly report?: string | undefined;
  /** Types of the conditions of the config that are true. */
  readonly conditions?: readonly string[];
}

/** What is written on a pod, as one row. `nodes` are all nodes of the cluster. */
export function readOutcome(
  pod: KubeObject,
  nodes: readonly KubeObject[],
  observed: ObservedSample = {},
): SampleOutcome {
  const { report } = observed;
  const nodeName = textAtPath(pod, "spec", "nodeName");
  const node = nodes.find((each) => each.metadata.name === nodeName);
  const nodeArchitecture = textAtPath(node, "metadata", "labels", NODE_ARCH_LABEL);
  const expected = parseExpectation(pod.metadata.annotations?.[EXPECT_ANNOTATION]);
  const architectures = requiredArchitectures(pod);
  const decision = readDecision(pod);
  const ok = expected === undefined || (
    decision === expected.decision &&
    architectures.join() === expected.architectures.toSorted().join() &&
    isReportedAsExpected(pod, { expected, report }) && isObservedAsExpected(pod, expected, observed) &&
    (nodeArchitecture === undefined ? expected.nodes.length === 0 : expected.nodes.includes(nodeArchitecture))
  );
  const images = listAtPath(pod, "spec", "containers").map((container) => textAtPath(container, "image") ?? "");
  const { name } = pod.metadata;
  return {
    pod: name,
    images,
    architectures,
    decision,
    node: nodeName ?? "Pending",
    nodeArchitecture,
    tolerates: toleratedBy(pod),
    report,
    expected,
    ok,
  };
}

/** Whether nothing more will happen to a pod: decided, and bound or found unschedulable. */
export function isSettled(pod: KubeObject, observed: ObservedSample = {}): boolean {
  const { report } = observed;
  const decision = readDecision(pod);
  const expected = parseExpectation(pod.metadata.annotations?.[EXPECT_ANNOTATION]);
  if (decision === "waiting" || decision === "unseen" && expected?.decision !== "unseen") return false;
  if (expected !== undefined && !isObservedAsExpected(pod, expected, observed)) return false;
  const mustReport = expected !== undefined && (expected.reported ?? expected.contradicted) === true;
  if (mustReport && !isReportedAsExpected(pod, { expected, report })) return false;
  if (textAtPath(pod, "spec", "nodeName") !== undefined) return textAtPath(pod, "status", "podIP") !== undefined;
  return listAtPath(pod, "status", "conditions").some((condition) =>
    textAtPath(condition, "reason") === "Unschedulable"
  );
}

function isObservedAsExpected(
  pod: KubeObject,
  { tolerates, condition }: Expectation,
  { conditions = [] }: ObservedSample,
): boolean {
  return (condition === undefined || conditions.includes(condition)) &&
    (tolerates === undefined || toleratedBy(pod).join() === tolerates.join());
}

function toleratedBy(pod: KubeObject): readonly string[] {
  const own = listAtPath(pod, "spec", "tolerations").filter((toleration) =>
    textAtPath(toleration, "key") === "supported-arch"
  );
  return own.map((toleration) => textAtPath(toleration, "value") ?? "").sort();
}

export function observedOf(
  pod: KubeObject,
  { events, configs }: { readonly events: readonly KubeObject[]; readonly configs: readonly KubeObject[] },
): ObservedSample {
  const conditions = configs.flatMap(({ status }) => parseConditions(status)).filter(({ status }) => status === "True");
  return { report: reportedMessage(pod, events), conditions: conditions.map(({ type }) => type) };
}

/**
 * The message of the event about a pod that runs a program of another architecture, or asks for one; undefined without
 * one.
 */
export function reportedMessage(pod: KubeObject, events: readonly KubeObject[]): string | undefined {
  const { uid, name } = pod.metadata;
  const isAbout = (event: KubeObject): boolean =>
    textAtPath(event, "reason") === EventReason.execFormatError && textAtPath(event, "involvedObject", "uid") === uid ||
    textAtPath(event, "reason") === EventReason.pinContradicted &&
      textAtPath(event, "involvedObject", "name") === name ||
    textAtPath(event, "reason") === EventReason.noSupportedArchitectures &&
      textAtPath(event, "involvedObject", "uid") === uid &&
      textAtPath(pod, "spec", "nodeName") !== undefined;
  return textAtPath(events.find(isAbout), "message");
}

/**
 * A pod that must be reported as failing has both label and event, one that must not has neither; a wrong pin has an
 * event.
 */
function isReportedAsExpected(
  pod: KubeObject,
  { expected: { reported, contradicted }, report }: {
    readonly expected: Expectation;
    readonly report: string | undefined;
  },
): boolean {
  if (contradicted !== undefined) return (report !== undefined) === contradicted;
  const isLabelled = pod.metadata.labels?.[PodLabel.execFormatError] === "true";
  return reported === undefined || isLabelled === reported && (report !== undefined) === reported;
}

function readDecision(pod: KubeObject): PodDecision {
  const labels = textMapAtPath(pod, "metadata", "labels");
  if (listAtPath(pod, "spec", "schedulingGates").some((gate) => textAtPath(gate, "name") === SCHEDULING_GATE)) {
    return "waiting";
  }
  if (labels[PodLabel.gate] === undefined) return "unseen";
  if (labels[PodLabel.fallbackArch] !== undefined) return "fallback";
  if (requiredExpressions(pod).some((expression) => textAtPath(expression, "key") === NO_SUPPORTED_ARCH)) {
    return "nowhere";
  }
  if (labels[PodLabel.nodeAffinity] === AffinityLabel.set) return "place";
  return labels[PodLabel.gate] === GateLabel.removed && labels[PodLabel.inspectError] !== undefined
    ? "release"
    : "ignore";
}

function requiredExpressions(pod: KubeObject): readonly unknown[] {
  return listAtPath(pod, ...REQUIRED, "nodeSelectorTerms").flatMap((term) => listAtPath(term, "matchExpressions"));
}

/** Sorted; the union over the OR-terms and the node selector. */
function requiredArchitectures(pod: KubeObject): readonly string[] {
  const required = requiredExpressions(pod)
    .filter((expression) =>
      textAtPath(expression, "key") === NODE_ARCH_LABEL && textAtPath(expression, "operator") === "In"
    )
    .flatMap((expression) => listAtPath(expression, "values"))
    .filter((value) => typeof value === "string");
  const selected = textMapAtPath(pod, "spec", "nodeSelector")[NODE_ARCH_LABEL];
  return [...new Set(selected === undefined ? required : [...required, selected])].sort();
}

function parseExpectation(text: string | undefined): Expectation | undefined {
  if (text === undefined) return undefined;
  try {
    return EXPECTATION.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`Cannot read annotation "${EXPECT_ANNOTATION}": it is no expectation.`, { cause });
  }
}
