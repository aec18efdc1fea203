// What people read of the taints: the condition of the cluster config, events, lines of `archway taints`.
import { MAX_NAMED, nameSome } from "../../vocabulary/condition.ts";
import { countNodes, type TaintPhase, type TaintStep } from "./next_step.ts";
import { shutOutOfTaintedNodes, type TaintSurvey } from "./survey.ts";
import type { NodeCounts, PodNeed } from "./types.ts";
import type { ArchTaint } from "../../vocabulary/taint.ts";
import { printable } from "../../json.ts";

/** Why the API server refused the last write of an object, by its key. */
export type Refusals = Pick<ReadonlyMap<string, string>, "get">;

export interface TaintProgress {
  readonly nodes: NodeCounts;
  readonly lackingPods: number;
  readonly phase: TaintPhase;
  readonly message: string;
}

export function progressOf(
  survey: TaintSurvey,
  { step, phase, refusals }: Pick<HeadlineFacts, "phase" | "refusals"> & { readonly step: TaintStep },
): TaintProgress {
  const nodes = countNodes(survey.nodes);
  const lackingPods = survey.needs.length;
  const sentences = [headline(step, { phase, survey, nodes, refusals }), ...remarks(survey)];
  return { phase, nodes, lackingPods, message: sentences.join(" ") };
}

interface HeadlineFacts {
  readonly phase: TaintPhase;
  readonly survey: TaintSurvey;
  readonly nodes: NodeCounts;
  readonly refusals: Refusals;
}

function headline(step: TaintStep, { phase, survey, nodes, refusals }: HeadlineFacts): string {
  const total = nodes.tainted + nodes.left;
  switch (phase) {
    case "Tolerating":
      return `Adding tolerations: ${survey.needs.length} pods lack them; ${nodes.tainted} of ${total} nodes are tainted.`;
    case "Tainting":
      return `Tainting node by node: ${nodes.tainted} of ${total} nodes are tainted.`;
    case "Paused":
      return `Paused at ${nodes.tainted} of ${total} nodes: pods without the toleration find no node: ` +
        `${namePods(step.kind === "paused" ? step.pods : [], refusals)}.`;
    case "Waiting":
      return `Waiting at ${nodes.tainted} of ${total} nodes${waitReason(step, refusals)}.`;
    case "Done":
      return `All ${total} nodes carry their taint ${survey.rule.key}.`;
    case "Lifting":
      return `Lifting the taint ${survey.rule.key}: ${
        survey.nodes.filter(({ isTainted }) => isTainted).length
      } nodes left.`;
    case "Lifted":
      return `No node carries the taint ${survey.rule.key}.`;
  }
}

function waitReason(step: TaintStep, refusals: Refusals): string {
  if (step.kind !== "wait") return "";
  const reasons = [
    ...step.pods.length === 0 ? [] : [`pods lack the toleration of their node: ${namePods(step.pods, refusals)}`],
    ...step.daemonSets.length === 0
      ? []
      : [`templates of DaemonSets lack the toleration, without which they get no pods: ${nameSome(step.daemonSets)}`],
  ];
  return reasons.length === 0 ? " until the last write shows" : `: ${reasons.join("; ")}`;
}

function remarks(survey: TaintSurvey): readonly string[] {
  const shutOut = shutOutOfTaintedNodes(survey);
  const disagreeing = survey.nodes.filter(({ judgement }) => judgement.kind === "disagreement").map(({ node }) =>
    node.name
  );
  return [
    ...disagreeing.length === 0
      ? []
      : [`Left alone, because kubelet and label name different architectures: ${nameSome(disagreeing)}.`],
    ...shutOut.length === 0 ? [] : [
      `DaemonSets that get no new pods on tainted nodes, because their template lacks the toleration: ${
        nameSome(shutOut)
      }.`,
    ],
    ...survey.oversized.length === 0 ? [] : [
      "DaemonSets that were not looked at, because tolerations and node affinity of their template are too large, or " +
      `those of their namespace together: ${nameFirst(survey.oversized)}.`,
    ],
  ];
}

function namePods(pods: readonly PodNeed[], refusals: Refusals): string {
  return nameSome(pods.map(({ pod: { key } }) => {
    const refusal = refusals.get(key);
    return refusal === undefined ? key : `${key} (${printable(refusal)})`;
  }));
}

/** The first names in order, and how many more there are. Users can create too many to sort all names each time. */
function nameFirst(names: readonly string[]): string {
  let first: readonly string[] = [];
  for (const name of names) {
    const last = first.length < MAX_NAMED ? undefined : first.at(-1);
    if (last === undefined || name < last) first = [...first, name].sort().slice(0, MAX_NAMED);
  }
  return nameSome([...first, ...names.slice(first.length)]);
}

/** The toleration in the form in which people write it: `supported-arch=arm64:NoSchedule`. */
export function renderTaint({ key, effect }: ArchTaint, architecture: string): string {
  return `${key}=${architecture}:${effect}`;
}

interface ReportMemory {
  readonly phase: TaintPhase | undefined;
  readonly sinceMs: number;
  readonly reported: TaintPhase | undefined;
  readonly message: string;
  readonly atMs: number;
}

export const NOTHING_REPORTED: ReportMemory = {
  phase: undefined,
  sinceMs: 0,
  reported: undefined,
  message: "",
  atMs: 0,
};

/** What to report now. `event`: the phase is new. `condition`: the message is new. */
interface DueReport {
  readonly memory: ReportMemory;
  readonly event: boolean;
  readonly condition: boolean;
}

/** How long (ms) a phase that is not final must last before it is reported. */
const LASTING_MS = 3_000;
/** Least time (ms) between two reports of one phase with new numbers. */
const NUMBERS_MS = 10_000;
const FINAL: readonly TaintPhase[] = ["Done", "Paused", "Lifted"];

export function decideReport(
  memory: ReportMemory,
  { phase, message, nowMs }: { readonly phase: TaintPhase; readonly message: string; readonly nowMs: number },
): DueReport {
  const sinceMs = memory.phase === phase ? memory.sinceMs : nowMs;
  const isLasting = FINAL.includes(phase) || nowMs - sinceMs >= LASTING_MS;
  const event = isLasting && memory.reported !== phase;
  const condition = event || isLasting && message !== memory.message && nowMs - memory.atMs >= NUMBERS_MS;
  const seen = { ...memory, phase, sinceMs };
  return {
    event,
    condition,
    memory: condition ? { ...seen, reported: phase, message, atMs: nowMs } : seen,
  };
}
