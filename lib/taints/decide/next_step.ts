// The next step towards nodes that carry their taint, decided from the state of the cluster alone, so that a new leader
// goes on where the last one stopped.
//
//   Tolerating ─▶ Waiting ─▶ Tainting (one node) ─▶ … ─▶ Done
//        ▲  pods lack    ▲ a write has yet to show │
//        └───────────────┴──── Paused ◀────────────┘  a pod that lacks a toleration finds no node
//
//   Lifting: one node after the other. While all nodes left are held, pods that find no node get tolerations.
import type { JsonPatch } from "../../k8s/patch.ts";
import { isManaged, type JudgedNode, shutOutDaemonSets, type TaintSurvey } from "./survey.ts";
import { untaintPatch } from "./judge_node.ts";
import type { NodeCounts, PodNeed, TaintNode } from "./types.ts";

interface NodeWrite {
  readonly node: string;
  readonly version: string;
  readonly operations: JsonPatch;
}

export type TaintStep =
  | { readonly kind: "tolerate"; readonly needs: readonly PodNeed[] }
  | { readonly kind: "taint" } & NodeWrite
  | { readonly kind: "untaint" } & NodeWrite
  /** Waits until these pods and DaemonSets tolerate the taint; if none, until the watch shows the last write. */
  | { readonly kind: "wait"; readonly pods: readonly PodNeed[]; readonly daemonSets: readonly string[] }
  | { readonly kind: "paused"; readonly pods: readonly PodNeed[] }
  | { readonly kind: "done" };

export type TaintPhase = "Tolerating" | "Waiting" | "Tainting" | "Paused" | "Done" | "Lifting" | "Lifted";

export interface StepOptions {
  /** `lift`: no node is to carry the taint. */
  readonly goal: "taint" | "lift";
  readonly isHeld: (key: string, version?: string) => boolean;
}

/** Most pods that one step writes: the rate limit allows them within about a second. */
const PODS_A_STEP = 10;

export function nextStep(survey: TaintSurvey, options: StepOptions): TaintStep {
  return options.goal === "lift" ? nextLift(survey, options) : nextTaint(survey, options);
}

export function phaseOf(step: TaintStep, goal: StepOptions["goal"]): TaintPhase {
  if (goal === "lift") return step.kind === "done" ? "Lifted" : "Lifting";
  return PHASES[step.kind];
}

const PHASES: Readonly<Record<TaintStep["kind"], TaintPhase>> = {
  tolerate: "Tolerating",
  taint: "Tainting",
  untaint: "Tainting",
  wait: "Waiting",
  paused: "Paused",
  done: "Done",
};

export function nodeKey(name: string): string {
  return `node ${name}`;
}

function nextLift({ nodes, needs, rule }: TaintSurvey, { isHeld }: StepOptions): TaintStep {
  const tainted = nodes.filter(({ isTainted }) => isTainted);
  // Nodes come first: users can create pods that find no node faster than those get their tolerations.
  const next = tainted.find(({ node }) => !isHeld(nodeKey(node.name), node.resourceVersion));
  if (next !== undefined) return { kind: "untaint", ...writeOf(next.node, untaintPatch(next.node, rule.key)) };
  const shutOut = tainted.length === 0 ? [] : needs.filter(({ pod }) => pod.isShutOut && !isHeld(pod.key));
  if (shutOut.length > 0) return { kind: "tolerate", needs: shutOut.slice(0, PODS_A_STEP) };
  return tainted.length === 0 ? { kind: "done" } : { kind: "wait", pods: [], daemonSets: [] };
}

function nextTaint(survey: TaintSurvey, { isHeld }: StepOptions): TaintStep {
  const { nodes, needs } = survey;
  const optedOut = nodes.find(({ node, judgement }) =>
    judgement.kind === "optedOut" && judgement.operations.length > 0 &&
    !isHeld(nodeKey(node.name), node.resourceVersion)
  );
  if (optedOut?.judgement.kind === "optedOut") {
    return { kind: "untaint", ...writeOf(optedOut.node, optedOut.judgement.operations) };
  }
  const writable = needs.filter(({ pod }) => !isHeld(pod.key)).slice(0, PODS_A_STEP);
  if (writable.length > 0) return { kind: "tolerate", needs: writable };
  const shutOut = needs.filter(({ pod }) => pod.isShutOut);
  if (shutOut.length > 0) return { kind: "paused", pods: shutOut };
  // Before the first node is tainted, all bound and pending pods must tolerate the taint.
  const isFirst = !nodes.some((node) => node.isTainted && isManaged(node));
  if (isFirst && needs.length > 0) return { kind: "wait", pods: needs, daemonSets: [] };
  return taintOne(survey, isHeld);
}

function taintOne(survey: TaintSurvey, isHeld: StepOptions["isHeld"]): TaintStep {
  const pods: PodNeed[] = [];
  const daemonSets = new Set<string>();
  let hasUntainted = false;
  for (const { node, judgement } of survey.nodes) {
    if (judgement.kind !== "patch") continue;
    hasUntainted = true;
    const lacking = survey.needsByNode.get(node.name) ?? [];
    const shutOut = shutOutDaemonSets(survey, node);
    if (lacking.length === 0 && shutOut.length === 0 && !isHeld(nodeKey(node.name), node.resourceVersion)) {
      return { kind: "taint", ...writeOf(node, judgement.operations) };
    }
    pods.push(...lacking);
    for (const { key } of shutOut) daemonSets.add(key);
  }
  return hasUntainted ? { kind: "wait", pods, daemonSets: [...daemonSets].sort() } : { kind: "done" };
}

function writeOf({ name, resourceVersion }: TaintNode, operations: JsonPatch): NodeWrite {
  return { node: name, version: resourceVersion, operations };
}

export function countNodes(nodes: readonly JudgedNode[]): NodeCounts {
  const count = (kind: JudgedNode["judgement"]["kind"]): number =>
    nodes.filter(({ judgement }) => judgement.kind === kind).length;
  return {
    tainted: count("keep"),
    left: count("patch"),
    optedOut: count("optedOut"),
    disagreeing: count("disagreement"),
    unknown: count("unknown"),
  };
}
