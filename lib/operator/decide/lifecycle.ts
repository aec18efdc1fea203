// Decides the next step in the lifecycle of the operand from facts, until the step is `done` or `wait`. Pure.
//
// | state        | when                                 | what happens, in this order                                      |
// |--------------|--------------------------------------|------------------------------------------------------------------|
// | uninstalling | Archway's own account is being deleted | webhook, gates (by force), taints, DaemonSet, all finalizers     |
// | absent       | no config                            | webhook away, gates (by force after the maximum gate age), uninstall finalizers |
// | deleting     | the config is being deleted          | wait for namespace configs, webhook, gates, taints, finalizers   |
// | present      | otherwise                            | all finalizers, then the webhook while a replica can serve       |
//
// While a config is present, the exec format error monitor is installed last. When the config is being deleted, the
// monitor is removed before the webhook: first its DaemonSet, then the events, which the leader handles, then its
// finalizers on Archway's own Deployment and on the config. Waits for monitor, gates and taints have time limits.
//
// The uninstall finalizers are on the account, the role and the binding that uninstalling needs: without these rights
// nothing else could be removed.
import { Finalizer } from "../../names.ts";
import type { MonitorFacts, OperandFacts, OperandFinalizer, OperandStep, WaitReason } from "./operand_step.ts";

export interface OperandRule {
  readonly name: string;
  readonly step: (facts: OperandFacts) => OperandStep | undefined;
}

/** A new leader needs a moment until it serves; the webhook of its predecessor stays that long (ms). */
export const UNSERVED_GRACE_MS = 30_000;

/** After this many attempts and maximum gate ages, pods that could not be ungated no longer hold up the removal. */
export const ABANDON_AFTER = { attempts: 5, gateAges: 5 } as const;

/** Longest wait for the removal of the monitor: for its DaemonSet and then its events, together (ms). */
export const MONITOR_DRAIN_MS = 60_000;

/** Longest wait for the controller of the taints (ms), which goes on after it: 5 000 nodes take nine minutes. */
export const UNTAINT_MS = 15 * 60_000;

const RETRY_MS = 1_000;

function when(holds: (facts: OperandFacts) => boolean, rules: readonly OperandRule[]): readonly OperandRule[] {
  return rules.map(({ name, step }) => ({ name, step: (facts) => holds(facts) ? step(facts) : undefined }));
}

const AWAIT_TAINTS: OperandRule = {
  // Pods get no more tolerations, so a node that kept its taint would take no new pod.
  name: "wait until nodes have lost their taints",
  step: ({ taints, leavingForMs }) =>
    taints === "carried" && leavingForMs < UNTAINT_MS ? wait("NodesStillTainted") : undefined,
};

const RELEASE_OWN_DEPLOYMENT: OperandRule = {
  name: "take the finalizer off Archway's Deployment",
  step: ({ monitor: { ownDeployment } }) =>
    ownDeployment === "withFinalizer" || ownDeployment === "deleting"
      ? { kind: "remove", target: "ownDeployment" }
      : undefined,
};

/**
 * A finalizer comes before what it protects. A Deployment that is being deleted is released, so that it can be
 * created again.
 */
const INSTALL_MONITOR: readonly OperandRule[] = [
  { name: "add the finalizer of the monitor", step: (facts) => addUnlessThere(facts, Finalizer.enoexecEvents) },
  {
    name: "keep Archway's Deployment while events may come",
    step: ({ monitor: { ownDeployment } }) =>
      ownDeployment === "withoutFinalizer" ? { kind: "apply", target: "ownDeployment" } : undefined,
  },
  {
    name: "release a Deployment that is being deleted",
    step: ({ monitor: { ownDeployment } }) =>
      ownDeployment === "deleting" ? { kind: "remove", target: "ownDeployment" } : undefined,
  },
  {
    name: "apply the DaemonSet of the monitor",
    step: ({ monitor: { daemonSet, hasImage } }) =>
      hasImage && (daemonSet === "absent" || daemonSet === "drifted")
        ? { kind: "apply", target: "monitor" }
        : undefined,
  },
];

/** The writers of events go first; the leader then has some time to handle what they wrote. */
const DRAIN_MONITOR: readonly OperandRule[] = [
  {
    name: "delete the DaemonSet of the monitor",
    step: ({ monitor: { daemonSet } }) =>
      daemonSet === "current" || daemonSet === "drifted" ? { kind: "remove", target: "monitor" } : undefined,
  },
  {
    name: "wait until the DaemonSet is gone",
    step: ({ monitor }) => monitor.daemonSet === "deleting" && mayDrain(monitor) ? wait("DaemonSetLeaving") : undefined,
  },
  {
    name: "delete events of which nothing comes",
    step: ({ monitor: { handledEvents, isForced } }) =>
      handledEvents > 0 && !isForced ? { kind: "remove", target: "events", which: "handled" } : undefined,
  },
  {
    name: "wait until events are handled",
    step: ({ monitor }) => monitor.pendingEvents > 0 && mayDrain(monitor) ? wait("EventsPending") : undefined,
  },
  {
    name: "delete all events",
    step: ({ monitor: { pendingEvents, isForced } }) =>
      pendingEvents > 0 && !isForced ? { kind: "remove", target: "events", which: "all" } : undefined,
  },
];

/** Without the finalizer, which the MTO may have added, there is nothing to drain. */
const REMOVE_MONITOR: readonly OperandRule[] = [
  ...when((facts) => has(facts, Finalizer.enoexecEvents), DRAIN_MONITOR),
  RELEASE_OWN_DEPLOYMENT,
  { name: "drop the finalizer of the monitor", step: (facts) => dropIfThere(facts, Finalizer.enoexecEvents) },
];

/** Webhook first, so that no new gate appears; then the gates. */
const REMOVE_WEBHOOK_AND_GATES: readonly OperandRule[] = [
  { name: "remove the webhook", step: ({ webhook }) => webhook === "absent" ? undefined : removeWebhook("NotWanted") },
  {
    name: "wait until gates are lifted, then lift them by force",
    step: (facts) => facts.gatedPods === 0 || isAbandoned(facts) ? undefined : awaitOrForceGates(facts),
  },
];

const wantsMonitor = ({ config }: OperandFacts): boolean => config?.monitorsExecFormat === true;

const PRESENT: readonly OperandRule[] = [
  { name: "add the finalizer of pod placement", step: (facts) => addUnlessThere(facts, Finalizer.podPlacement) },
  {
    name: "add the finalizer that namespace configs need",
    step: (facts) => facts.hasNamespaceConfigs ? addUnlessThere(facts, Finalizer.noPodPlacementConfig) : undefined,
  },
  {
    name: "drop the finalizer that no namespace config needs",
    step: (facts) => facts.hasNamespaceConfigs ? undefined : dropIfThere(facts, Finalizer.noPodPlacementConfig),
  },
  {
    name: "add the uninstall finalizers",
    step: ({ installation }) =>
      installation === "withoutFinalizer" ? { kind: "apply", target: "uninstallFinalizers" } : undefined,
  },
  {
    name: "apply the webhook while a replica serves",
    step: ({ unservedForMs, webhook }) =>
      unservedForMs === 0 && webhook !== "current" ? { kind: "apply", target: "webhook" } : undefined,
  },
  {
    name: "remove the webhook that no replica serves",
    step: ({ unservedForMs, webhook }) =>
      unservedForMs >= UNSERVED_GRACE_MS && webhook !== "absent" ? removeWebhook("NoReplicaServes") : undefined,
  },
  ...when(wantsMonitor, INSTALL_MONITOR),
  ...when((facts) => !wantsMonitor(facts), REMOVE_MONITOR),
  {
    name: "wait until a replica serves",
    step: ({ unservedForMs }) => unservedForMs > 0 ? wait("NoReplicaServes") : undefined,
  },
];

const DELETING: readonly OperandRule[] = [
  {
    name: "wait until namespace configs are gone",
    step: (facts) =>
      facts.hasNamespaceConfigs && has(facts, Finalizer.noPodPlacementConfig)
        ? wait("NamespaceConfigsExist")
        : undefined,
  },
  {
    name: "drop the finalizer for namespace configs",
    step: (facts) => dropIfThere(facts, Finalizer.noPodPlacementConfig),
  },
  ...REMOVE_MONITOR,
  ...REMOVE_WEBHOOK_AND_GATES,
  AWAIT_TAINTS,
  { name: "drop the finalizer of pod placement", step: (facts) => dropIfThere(facts, Finalizer.podPlacement) },
];

const REMOVE_UNINSTALL_FINALIZERS: OperandRule = {
  name: "remove the uninstall finalizers",
  step: () => ({ kind: "remove", target: "uninstallFinalizers" }),
};

const ABSENT: readonly OperandRule[] = [
  ...REMOVE_WEBHOOK_AND_GATES,
  RELEASE_OWN_DEPLOYMENT,
  ...when(({ installation }) => installation === "withFinalizer", [AWAIT_TAINTS, REMOVE_UNINSTALL_FINALIZERS]),
];

/** Waits for nothing: this process and its rights last only for moments. */
const UNINSTALLING: readonly OperandRule[] = [
  { name: "remove the webhook", step: ({ webhook }) => webhook === "absent" ? undefined : removeWebhook("NotWanted") },
  {
    name: "lift the gates by force",
    step: ({ gatedPods, forced }) =>
      gatedPods > 0 && forced.attempts < ABANDON_AFTER.attempts ? { kind: "remove", target: "gates" } : undefined,
  },
  {
    name: "lift the taints",
    step: ({ taints }) => taints === "carried" ? { kind: "remove", target: "taints" } : undefined,
  },
  {
    name: "delete the DaemonSet of the monitor",
    step: (facts) =>
      has(facts, Finalizer.enoexecEvents) && facts.monitor.daemonSet === "current"
        ? { kind: "remove", target: "monitor" }
        : undefined,
  },
  ...Object.values(Finalizer).map((finalizer): OperandRule => ({
    name: `drop ${finalizer}`,
    step: (facts) => dropIfThere(facts, finalizer),
  })),
  RELEASE_OWN_DEPLOYMENT,
  REMOVE_UNINSTALL_FINALIZERS,
];

export const OPERAND_RULES = {
  present: PRESENT,
  deleting: DELETING,
  absent: ABSENT,
  uninstalling: UNINSTALLING,
  left: [],
};

export function decideOperandStep(facts: OperandFacts): { readonly rule: string; readonly step: OperandStep } {
  const rules: readonly OperandRule[] = OPERAND_RULES[stateOf(facts)];
  for (const { name, step: stepOf } of rules) {
    const step = stepOf(facts);
    if (step !== undefined) return { rule: name, step };
  }
  return { rule: "nothing to do", step: { kind: "done" } };
}

function stateOf({ installation, config }: OperandFacts): keyof typeof OPERAND_RULES {
  if (installation === "uninstalling" || installation === "left") return installation;
  if (config === undefined) return "absent";
  return config.deletingSinceMs === undefined ? "present" : "deleting";
}

function mayDrain({ leavingForMs }: MonitorFacts): boolean {
  return leavingForMs < MONITOR_DRAIN_MS;
}

function awaitOrForceGates({ leavingForMs, maxGateAgeMs, forced }: OperandFacts): OperandStep {
  if (leavingForMs < maxGateAgeMs) return wait("PodsStillGated", Math.min(RETRY_MS, maxGateAgeMs - leavingForMs));
  return forced.attempts > 0 && forced.agoMs < RETRY_MS
    ? wait("PodsStillGated", RETRY_MS - forced.agoMs)
    : { kind: "remove", target: "gates" };
}

function isAbandoned({ leavingForMs, maxGateAgeMs, forced }: OperandFacts): boolean {
  return forced.attempts >= ABANDON_AFTER.attempts && leavingForMs >= maxGateAgeMs * ABANDON_AFTER.gateAges;
}

function has({ config }: OperandFacts, finalizer: OperandFinalizer): boolean {
  return config?.finalizers.includes(finalizer) ?? false;
}

function addUnlessThere(facts: OperandFacts, finalizer: OperandFinalizer): OperandStep | undefined {
  return has(facts, finalizer) ? undefined : { kind: "apply", target: "finalizer", finalizer };
}

function dropIfThere(facts: OperandFacts, finalizer: OperandFinalizer): OperandStep | undefined {
  return has(facts, finalizer) ? { kind: "remove", target: "finalizer", finalizer } : undefined;
}

function removeWebhook(reason: "NotWanted" | "NoReplicaServes"): OperandStep {
  return { kind: "remove", target: "webhook", reason };
}

function wait(reason: WaitReason, retryMs: number = RETRY_MS): OperandStep {
  return { kind: "wait", reason, retryMs };
}
