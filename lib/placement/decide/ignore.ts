// Which pods are left alone: the six rules of the MTO, I1 to I6, then Archway's own. The first that holds counts.
import { CONTROL_PLANE_SELECTORS, PodAnnotation } from "../../names.ts";
import type { PlacementSettings } from "./config/settings.ts";
import { hasPreferredArchitecture, hasRequiredArchitecture } from "./pod/constraints.ts";
import type { IgnoreReason } from "./decision_types.ts";
import { entryOf } from "../../json.ts";
import type { PodPlan } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";

type Holds = (pod: PodView, settings: PlacementSettings, plan: PodPlan) => boolean;

const IGNORE_RULES: readonly (readonly [reason: IgnoreReason, holds: Holds])[] = [
  ["OperatorNamespace", (pod, settings) => pod.namespace === settings.operatorNamespace],
  ["KubeNamespace", (pod, settings) => isSystemNamespace(pod.namespace, settings)],
  ["NodeNameSet", (pod) => pod.nodeName !== ""],
  ["ControlPlaneSelector", (pod) => hasControlPlaneSelector(pod)],
  ["DaemonSet", (pod, settings) => pod.isDaemonSetControlled && settings.daemonSets !== "constrain"],
  [
    "AlreadyConstrained",
    (pod, _settings, plan) =>
      plan.archwaysRequirement === undefined && hasRequiredArchitecture(pod) &&
      (!plan.isScored || hasPreferredArchitecture(pod) && !isOwnWork(pod, plan)),
  ],
  ["RuntimeClassSkipped", hasSkippedRuntimeClass],
];

export function ignoreReason(pod: PodView, settings: PlacementSettings, plan: PodPlan): IgnoreReason | undefined {
  return IGNORE_RULES.find(([, holds]) => holds(pod, settings, plan))?.[0];
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

export function hasSkippedRuntimeClass(pod: PodView, { runtimeClasses }: PlacementSettings): boolean {
  return entryOf(runtimeClasses, pod.runtimeClassName)?.kind === "skip";
}

/** Whether both annotations say that an earlier call of this admission wrote the pod's preferred terms. */
function isOwnWork(pod: PodView, { preferences }: PodPlan): boolean {
  return pod.record?.decision === "user-constrained" && preferences.isPresent && preferences.terms.length === 0 &&
    entryOf(pod.annotations, PodAnnotation.preferredSources) === preferences.sources;
}

/** Rule I4: the nodeSelector names the control plane, with any value. */
export function hasControlPlaneSelector(pod: PodView): boolean {
  return CONTROL_PLANE_SELECTORS.some((key) => entryOf(pod.nodeSelector, key) !== undefined);
}
