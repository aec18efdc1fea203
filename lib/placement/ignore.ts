// Which pods are left alone: the rules I1–I6 (§1.3) and Archway's own switches, as an ordered list. The first that holds
// is the reason people read. The webhook and the controller share it.
import { CONTROL_PLANE_SELECTORS } from "../names.ts";
import type { PlacementSettings } from "./config_types.ts";
import { hasPreferredArchitecture, hasRequiredArchitecture } from "./patch/constraints.ts";
import type { IgnoreReason } from "./decision_types.ts";
import { entryOf } from "./raw.ts";
import type { PodView } from "./types.ts";

/** What the rules look at. */
export interface IgnoreFacts {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  /** Whether a config wants preferences on this pod (`scoringWanted`). */
  readonly scoring: boolean;
  /** The pod's arch constraints are, at least in part, an earlier decision of ours: rule I6 does not apply. */
  readonly constrainedByUs: boolean;
}

/** One rule: its number in the specification, the reason people read, and when it holds. */
export interface IgnoreRule {
  readonly id: string;
  readonly reason: IgnoreReason;
  readonly holds: (facts: IgnoreFacts) => boolean;
}

/** The rules in the order of §1.3; those without a number there are Archway's. */
export const IGNORE_RULES: readonly IgnoreRule[] = [
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
    holds: ({ pod, scoring, constrainedByUs }) =>
      !constrainedByUs && hasRequiredArchitecture(pod) && (!scoring || hasPreferredArchitecture(pod)),
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

/** Rule I4: the nodeSelector names the control plane, with whatever value. */
export function hasControlPlaneSelector(pod: PodView): boolean {
  return CONTROL_PLANE_SELECTORS.some((key) => entryOf(pod.nodeSelector, key) !== undefined);
}
