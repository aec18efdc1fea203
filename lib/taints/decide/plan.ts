// What `archway taints plan` says of a cluster: what becomes of each node, and what the taints would shut out.
import { shutOutDaemonSets, type TaintSurvey } from "./survey.ts";
import type { NodeJudgement } from "./judge_node.ts";
import type { ArchTaint } from "../../vocabulary/taint.ts";
import { renderTaint } from "./progress.ts";
import { ApiError, classifyWriteFailure } from "../../k8s/api_error.ts";

export interface TaintPlan {
  readonly taint: ArchTaint;
  readonly nodes: readonly NodeAction[];
  /** Pods that lack the toleration of a node on which they run or may run. They get it before nodes are tainted. */
  readonly pods: readonly PodAcceptance[];
  /** DaemonSets that would get no pods on these nodes: users must change their templates first. */
  readonly daemonSets: readonly ShutOutDaemonSet[];
}

interface NodeAction {
  readonly node: string;
  readonly architecture: string;
  readonly action: "keep" | "add" | "repair" | "remove" | "none";
  readonly reason: string;
}

/** Whether the API server accepts the tolerations from the user of the command, in a dry run. */
export interface Trial {
  /** `no`: the API server, a policy or a webhook refuses them; `unknown`: not tried, or the answer does not say. */
  readonly accepts: "yes" | "no" | "unknown";
  readonly reason: string;
}

export interface PodAcceptance extends Trial {
  readonly pod: string;
  /** Empty while the pod is pending. */
  readonly node: string;
  /** The taints whose toleration the pod lacks: `supported-arch=arm64:NoSchedule`. */
  readonly lacks: readonly string[];
}

interface ShutOutDaemonSet {
  readonly daemonSet: string;
  readonly nodes: readonly string[];
  readonly lacks: readonly string[];
}

export function planOf(survey: TaintSurvey, trials: ReadonlyMap<string, Trial>): TaintPlan {
  const { rule } = survey;
  const nodes = survey.nodes.map(({ node, judgement }): NodeAction => ({
    node: node.name,
    architecture: node.reportedArchitecture,
    ...actionOf(judgement),
  }));
  const pods = survey.needs.map(({ pod, missing }): PodAcceptance => ({
    pod: pod.key,
    node: pod.runsOn.kind === "node" ? pod.runsOn.node : "",
    lacks: missing.map(({ value }) => renderTaint(rule, value)),
    ...trials.get(pod.key) ?? NOT_TRIED,
  }));
  return {
    taint: rule,
    nodes: nodes.toSorted((a, b) => compare(a.node, b.node)),
    pods: pods.toSorted((a, b) => compare(a.pod, b.pod)),
    daemonSets: daemonSetsOf(survey),
  };
}

function daemonSetsOf(survey: TaintSurvey): readonly ShutOutDaemonSet[] {
  const found = survey.nodes.filter(({ judgement }) => judgement.kind === "patch" || judgement.kind === "keep")
    .flatMap(({ node }) => shutOutDaemonSets(survey, node).map(({ key }) => ({ key, node })));
  return [...Map.groupBy(found, ({ key }) => key)].map(([daemonSet, rows]) => ({
    daemonSet,
    nodes: rows.map(({ node }) => node.name).sort(),
    lacks: [...new Set(rows.map(({ node }) => renderTaint(survey.rule, node.reportedArchitecture)))].sort(),
  })).toSorted((a, b) => compare(a.daemonSet, b.daemonSet));
}

function actionOf(judgement: NodeJudgement): Pick<NodeAction, "action" | "reason"> {
  switch (judgement.kind) {
    case "keep":
      return { action: "keep", reason: "has its taint" };
    case "patch":
      return judgement.repair === "missing"
        ? { action: "add", reason: "has no taint yet" }
        : { action: "repair", reason: REPAIRS[judgement.repair] };
    case "optedOut":
      return judgement.operations.length === 0
        ? { action: "none", reason: "opted out" }
        : { action: "remove", reason: "opted out" };
    case "disagreement":
      return { action: "none", reason: `kubelet says ${judgement.reported}, label says ${judgement.labelled}` };
    case "unknown":
      return { action: "none", reason: "has not reported its architecture, or is going" };
  }
}

const REPAIRS = { value: "wrong value", effect: "wrong effect", several: "more than one taint" } as const;

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The API server's answer where a policy or a webhook denies a request, whatever status it chose. */
const DENIED = /denied (?:the )?request/;

/** For pods that were not tried, because the limit of number or time was reached. */
const NOT_TRIED: Trial = { accepts: "unknown", reason: "not tried: too many pods" };

/** The RBAC authorizer's answer, which is about the user and not about the pod. */
const LACKS_RIGHT = /is forbidden: User .* cannot patch resource "pods"/;
/** The API server's answer where a webhook may have side effects. */
const NO_DRY_RUN = /does not support dry run/;

/** Whether the text of a fault says that admission refused the write. A webhook may use a conflict's status. */
export function isDenial(text: string): boolean {
  return DENIED.test(text);
}

export function judgeTrial(error: unknown, text: string): Trial {
  // This check comes first, since the message of a policy or webhook can contain any text of the pod.
  if (isDenial(text)) return { accepts: "no", reason: text };
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 403 && LACKS_RIGHT.test(text)) return { accepts: "unknown", reason: `you may not patch it: ${text}` };
  if (status === 400 && NO_DRY_RUN.test(text)) return { accepts: "unknown", reason: text };
  const failure = classifyWriteFailure(error);
  if (failure === "gone" || failure === "stale") return { accepts: "unknown", reason: "it changed meanwhile" };
  return { accepts: failure === "refused" || status === 403 ? "no" : "unknown", reason: text };
}
