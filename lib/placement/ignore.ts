// Which pods are left alone: an ordered list of rules, first those of the MTO, numbered I1 to I6 here, then Archway's own. The
// first that holds is the reason that people read.
import { CONTROL_PLANE_SELECTORS, PodAnnotation } from "../names.ts";
import type { PlacementSettings } from "./config/types.ts";
import { hasPreferredArchitecture, hasRequiredArchitecture } from "./patch/constraints.ts";
import type { IgnoreReason } from "./decision_types.ts";
import { parseRecord } from "./patch/record.ts";
import { entryOf } from "../json.ts";
import type { PodPlan, PodView } from "./types.ts";

/** What the rules read. */
export interface IgnoreFacts {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly plan: PodPlan;
}

/** One rule: its number, the reason for users, and when it holds. */
export interface IgnoreRule {
  readonly id: string;
  readonly reason: IgnoreReason;
  readonly holds: (facts: IgnoreFacts) => boolean;
}

/** The rules in the order of the MTO, then Archway's. */
const IGNORE_RULES: readonly IgnoreRule[] = [
  { id: "I1", reason: "OperatorNamespace", holds: ({ pod, settings }) => pod.namespace === settings.operatorNamespace },
  { id: "I2", reason: "KubeNamespace", holds: ({ pod, settings }) => isSystemNamespace(pod.namespace, settings) },
  { id: "I3", reason: "NodeNameSet", holds: ({ pod }) => pod.nodeName !== "" },
  { id: "I4", reason: "ControlPlaneSelector", holds: ({ pod }) => hasControlPlaneSelector(pod) },
  {
    id: "I5",
    reason: "DaemonSet",
    holds: ({ pod, settings }) => pod.isDaemonSetControlled && settings.daemonSets !== "constrain",
  },
  {
    id: "I6",
    reason: "AlreadyConstrained",
    holds: ({ pod, plan }) =>
      plan.own === undefined && hasRequiredArchitecture(pod) &&
      (!plan.scoring || hasPreferredArchitecture(pod) && !isOwnWork(pod, plan)),
  },
  {
    id: "RuntimeClass",
    reason: "RuntimeClassSkipped",
    holds: ({ pod, settings }) => entryOf(settings.runtimeClasses, pod.runtimeClassName)?.kind === "skip",
  },
];

/** The reason to leave a pod alone; undefined when there is none. */
export function ignoreReason(facts: IgnoreFacts): IgnoreReason | undefined {
  return IGNORE_RULES.find((rule) => rule.holds(facts))?.reason;
}

/** Rule I2: a cluster's own namespaces, `kube-*` and OpenShift's unless configured otherwise. */
export function isSystemNamespace(
  namespace: string,
  { systemNamespaces }: Pick<PlacementSettings, "systemNamespaces">,
): boolean {
  return systemNamespaces.some((pattern) =>
    pattern.endsWith("*") ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern
  );
}

/**
 * Whether the preferred terms of a pod that constrains the architecture itself are the work of an earlier call of the
 * same admission: the record says so, nothing is missing, and the audit annotation is what would be written now.
 */
function isOwnWork(pod: PodView, { preferences }: PodPlan): boolean {
  const record = parseRecord(entryOf(pod.annotations, PodAnnotation.decision));
  return record?.decision === "user-constrained" && preferences.present && preferences.terms.length === 0 &&
    entryOf(pod.annotations, PodAnnotation.preferredSources) === preferences.audit;
}

/** Rule I4: the nodeSelector names the control plane, with whatever value. */
export function hasControlPlaneSelector(pod: PodView): boolean {
  return CONTROL_PLANE_SELECTORS.some((key) => entryOf(pod.nodeSelector, key) !== undefined);
}
