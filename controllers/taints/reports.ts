// Reports the progress of tainting: events for phases and skipped nodes, a condition, one log line.
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME, EventReason } from "../../lib/names.ts";
import { renderTaintCondition, type TaintCondition } from "../../lib/operator/decide/conditions.ts";
import type { JudgedNode, TaintSurvey } from "../../lib/taints/decide/survey.ts";
import { decideReport, NOTHING_REPORTED, type TaintProgress } from "../../lib/taints/decide/progress.ts";
import { type ConfigConditionsDeps, writeConfigConditions } from "../config_conditions.ts";

interface ReportsDeps extends ConfigConditionsDeps {
  readonly events: EventRecorder;
}

interface Seen {
  readonly survey: TaintSurvey;
  readonly progress: TaintProgress;
}

interface TaintReports {
  /** Begins a term of leading, in which earlier reports may be outdated. */
  begin(): void;
  report(seen: Seen, signal: AbortSignal): Promise<void>;
}

export const CLUSTER_CONFIG = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME });

export function openTaintReports(deps: ReportsDeps): TaintReports {
  const { clock, events, log } = deps;
  const disagreements = new Map<string, string>();
  let memory = NOTHING_REPORTED;
  let isOwed = false;
  return {
    begin: () => {
      memory = NOTHING_REPORTED;
    },
    report: async ({ survey, progress }, signal) => {
      for (const node of survey.nodes) reportDisagreement(events, node, disagreements);
      const { phase, message, nodes, lackingPods } = progress;
      const due = decideReport(memory, { phase, message, nowMs: clock.monotonicMs() });
      memory = due.memory;
      if (due.event) {
        const isPaused = phase === "Paused";
        const reason = isPaused ? EventReason.taintsPaused : EventReason.taintsProgress;
        events.record({ object: CLUSTER_CONFIG, type: isPaused ? "Warning" : "Normal", reason, message });
        log.info("architecture taints", { phase, message, ...nodes, lackingPods });
      }
      if (!due.condition && !isOwed) return;
      const condition = { isTrue: phase === "Done", reason: phase, message: memory.message };
      isOwed = !await writeTaintCondition(deps, condition, signal);
    },
  };
}

/** Writes the condition about the taints. Returns whether it is written or there is no config for it. */
export async function writeTaintCondition(
  deps: ConfigConditionsDeps,
  condition: TaintCondition,
  signal: AbortSignal,
): Promise<boolean> {
  const outcome = await writeConfigConditions(
    { ...deps, signal },
    condition.reason,
    (earlier) => renderTaintCondition(condition, earlier),
  );
  signal.throwIfAborted();
  return outcome !== "failed";
}

function reportDisagreement(
  events: ReportsDeps["events"],
  { node, judgement }: JudgedNode,
  reported: Map<string, string>,
): void {
  if (judgement.kind !== "disagreement") return void reported.delete(node.name);
  const message =
    `The kubelet reports ${judgement.reported} and the label kubernetes.io/arch says ${judgement.labelled}: ` +
    "no architecture taint is written before they agree.";
  if (reported.get(node.name) === message) return;
  reported.set(node.name, message);
  const object = { apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid };
  events.record({ object, type: "Warning", reason: EventReason.taintDisagreement, message });
}
