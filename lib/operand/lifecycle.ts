// The next step in the life of the operand: one fact sheet in, one step out, until it says done or wait. Pure; asked by
// controllers/operator. Source: operator §2.3, §2.7, §2.11, with the waits bounded (§6.2 B3, B14).
//
// | config    | deleting | what happens, in this order                                                             |
// |-----------|----------|------------------------------------------------------------------------------------------|
// | absent    | –        | webhook away, gates away (by force after the maximum gate age)                            |
// | present   | no       | finalizers, then the webhook while a replica can serve                                    |
// | present   | yes      | wait for namespace configs, webhook away, gates away, enoexec, finalizers last            |
import { Finalizer } from "../names.ts";
import type { OperandConfig } from "./config_view.ts";

/** One of the finalizers Archway keeps on the cluster config. */
export type OperandFinalizer = typeof Finalizer[keyof typeof Finalizer];

/** Everything the next step depends on. */
export interface OperandFacts {
  /** undefined when there is no ClusterPodPlacementConfig. */
  readonly config: OperandConfig | undefined;
  /** Whether any PodPlacementConfig exists. */
  readonly hasNamespaceConfigs: boolean;
  /** The live webhook configuration compared with the desired one. */
  readonly webhook: "absent" | "current" | "drifted";
  /** How long no replica could answer admissions (ms); 0 while one can. */
  readonly unservedForMs: number;
  /** Pods holding our gate; 0 while nobody asked, which is while the config stays. */
  readonly gatedPods: number;
  /** How long the config has been leaving or gone (ms). */
  readonly leavingForMs: number;
  /** Longest a pod may stay gated (ms). */
  readonly maxGateAgeMs: number;
  /** Attempts to lift all gates by force since the config began to leave, and the time since the last one (ms). */
  readonly forced: { readonly attempts: number; readonly agoMs: number };
  /** `unmanaged`: nobody here answers for ENoExecEvents, so a finalizer of the reference is ours to drop. */
  readonly enoexec: "unmanaged" | "busy" | "idle";
}

/** Why there is nothing to do but wait. */
export type WaitReason =
  | "NamespaceConfigsExist"
  | "PodsStillGated"
  | "EnoexecEventsDraining"
  | "NoReplicaServes";

/** The answer. After `apply` or `remove` the facts are gathered anew. */
export type OperandStep =
  | { readonly kind: "apply"; readonly target: "webhook" }
  | { readonly kind: "apply"; readonly target: "finalizer"; readonly finalizer: OperandFinalizer }
  | { readonly kind: "remove"; readonly target: "webhook"; readonly reason: "NotWanted" | "NoReplicaServes" }
  /** Lift all gates by force: nobody placed these pods in time. */
  | { readonly kind: "remove"; readonly target: "gates" }
  | { readonly kind: "remove"; readonly target: "finalizer"; readonly finalizer: OperandFinalizer }
  | { readonly kind: "wait"; readonly reason: WaitReason; readonly retryMs: number }
  | { readonly kind: "done" };

/** A new leader needs a moment until it serves; the webhook of its predecessor stays that long (ms). */
export const UNSERVED_GRACE_MS = 30_000;

/** Gates that so many attempts over so many maximum gate ages could not lift no longer hold the config back. */
export const ABANDON_AFTER = { attempts: 5, gateAges: 5 } as const;

const RETRY_MS = 1_000;

/** Decides the next step. */
export function decideOperandStep(facts: OperandFacts): OperandStep {
  const { config } = facts;
  if (config === undefined) return leave(facts) ?? { kind: "done" };
  return config.deletingSinceMs === undefined ? stay(config, facts) : part(config, facts);
}

/** The config is there to stay. */
function stay(config: OperandConfig, facts: OperandFacts): OperandStep {
  const has = (finalizer: OperandFinalizer): boolean => config.finalizers.includes(finalizer);
  if (!has(Finalizer.podPlacement)) return addFinalizer(Finalizer.podPlacement);
  if (facts.hasNamespaceConfigs && !has(Finalizer.noPodPlacementConfig)) {
    return addFinalizer(Finalizer.noPodPlacementConfig);
  }
  if (!facts.hasNamespaceConfigs && has(Finalizer.noPodPlacementConfig)) {
    return dropFinalizer(Finalizer.noPodPlacementConfig);
  }
  if (facts.enoexec === "unmanaged" && !config.enoexecEnabled && has(Finalizer.enoexecEvents)) {
    return dropFinalizer(Finalizer.enoexecEvents);
  }
  if (facts.unservedForMs === 0) {
    return facts.webhook === "current" ? { kind: "done" } : { kind: "apply", target: "webhook" };
  }
  if (facts.webhook !== "absent" && facts.unservedForMs >= UNSERVED_GRACE_MS) {
    return { kind: "remove", target: "webhook", reason: "NoReplicaServes" };
  }
  return wait("NoReplicaServes");
}

/** The config is being deleted. */
function part(config: OperandConfig, facts: OperandFacts): OperandStep {
  const has = (finalizer: OperandFinalizer): boolean => config.finalizers.includes(finalizer);
  if (has(Finalizer.noPodPlacementConfig)) {
    return facts.hasNamespaceConfigs ? wait("NamespaceConfigsExist") : dropFinalizer(Finalizer.noPodPlacementConfig);
  }
  const leaving = leave(facts);
  if (leaving !== undefined) return leaving;
  if (has(Finalizer.enoexecEvents)) {
    const drain = facts.enoexec === "busy" && facts.leavingForMs < facts.maxGateAgeMs;
    return drain ? wait("EnoexecEventsDraining") : dropFinalizer(Finalizer.enoexecEvents);
  }
  return has(Finalizer.podPlacement) ? dropFinalizer(Finalizer.podPlacement) : { kind: "done" };
}

/** Webhook first, so that no new gate appears; then the gates. undefined when both are gone. */
function leave(facts: OperandFacts): OperandStep | undefined {
  if (facts.webhook !== "absent") return { kind: "remove", target: "webhook", reason: "NotWanted" };
  if (facts.gatedPods === 0) return undefined;
  const { leavingForMs, maxGateAgeMs, forced } = facts;
  if (leavingForMs < maxGateAgeMs) return wait("PodsStillGated", Math.min(RETRY_MS, maxGateAgeMs - leavingForMs));
  if (forced.attempts === 0) return { kind: "remove", target: "gates" };
  if (forced.attempts >= ABANDON_AFTER.attempts && leavingForMs >= maxGateAgeMs * ABANDON_AFTER.gateAges) {
    return undefined;
  }
  return forced.agoMs < RETRY_MS
    ? wait("PodsStillGated", RETRY_MS - forced.agoMs)
    : { kind: "remove", target: "gates" };
}

function addFinalizer(finalizer: OperandFinalizer): OperandStep {
  return { kind: "apply", target: "finalizer", finalizer };
}

function dropFinalizer(finalizer: OperandFinalizer): OperandStep {
  return { kind: "remove", target: "finalizer", finalizer };
}

function wait(reason: WaitReason, retryMs: number = RETRY_MS): OperandStep {
  return { kind: "wait", reason, retryMs };
}
