// Reports what a written status changed: one event for each step that began, ended or failed, and for each new phase.
import { type EventInput, type EventObject, eventObjectOf } from "../../lib/k8s/event_input.ts";
import { Resource } from "../../lib/k8s/types.ts";
import type { History, StepCondition, UpgradeConfig, UpgradeStatus } from "../../lib/upgrades/decide/types/plan.ts";
import type { UpgradesDeps } from "./deps.ts";

export interface StatusChange {
  readonly plan: UpgradeConfig;
  readonly before: UpgradeStatus;
  readonly after: UpgradeStatus;
}

export function reportChanges({ events, log }: Pick<UpgradesDeps, "events" | "log">, change: StatusChange): void {
  for (const event of changesOf(change)) events.record(event);
  const [history] = change.after.history;
  const [earlier] = change.before.history;
  if (history === undefined || history.phase === earlier?.phase) return;
  const { phase, version, architecture } = history;
  log.info("upgrade", { phase, version, ...architecture === "" ? {} : { architecture } });
}

function changesOf({ plan, before, after }: StatusChange): readonly EventInput[] {
  return after.history.flatMap((history) => {
    const earlier = before.history.find(({ architecture, version }) =>
      architecture === history.architecture && version === history.version
    );
    return [
      ...history.phase === earlier?.phase ? [] : [phaseEvent(plan, history)],
      ...history.conditions.toReversed().flatMap((condition) =>
        stepEvent(plan, condition, earlier?.conditions.find(({ type }) => type === condition.type))
      ),
    ];
  });
}

function phaseEvent(plan: UpgradeConfig, { phase, version, architecture }: History): EventInput {
  const target = architecture === "" ? version : `${version} (${architecture})`;
  const type = phase === "Failed" ? "Warning" : "Normal";
  return { object: objectOf(plan), type, reason: `Upgrade${phase}`, message: `The upgrade to ${target} is ${phase}.` };
}

function stepEvent(
  plan: UpgradeConfig,
  { type, status, message }: StepCondition,
  earlier: StepCondition | undefined,
): readonly EventInput[] {
  const object = objectOf(plan);
  if (status === "True") return earlier?.status === "True" ? [] : [{ object, type: "Normal", reason: type, message }];
  if (earlier?.message === message && earlier.status === status) return [];
  const isWaiting = (text: string | undefined): boolean => text?.startsWith(`${type} `) === true;
  // What is waited for changes with every node: the condition says it, an event would be one for each node.
  if (isWaiting(message) && earlier?.status === "False" && isWaiting(earlier.message)) return [];
  return [{ object, type: isWaiting(message) ? "Normal" : "Warning", reason: type, message }];
}

function objectOf({ namespace, name, uid }: UpgradeConfig): EventObject {
  return eventObjectOf(Resource.upgradeConfigs, { name, namespace, uid });
}
