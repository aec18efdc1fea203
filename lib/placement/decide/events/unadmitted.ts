// Pods admitted without the webhook (`failurePolicy: Ignore`). They are reported, never changed.
import { EventReason, PodAnnotation, PodLabel } from "../../../names.ts";
import type { PlacementSettings } from "../config/settings.ts";
import type { PlacementConfigs } from "../config/config.ts";
import { isGated } from "../pod/constraints.ts";
import type { PodRef } from "../pod/pod_refs.ts";
import { judgeAdmission, planAdmission } from "../admission.ts";
import { entryOf } from "../../../json.ts";
import { type PodEvent, warning } from "./event_slots.ts";
import { matchesSelector } from "../../../vocabulary/label_selector.ts";
import type { PodView } from "../pod/pod_view.ts";

/** Longest time that registering the webhook for a namespace takes (ms). Meanwhile pods are admitted without it. */
const REGISTRATION_MS = 30_000;

/** Whether the webhook missed a pending pod, bound or not: it has no label, but is younger than config and selector. */
export function isUnadmitted(pod: PodView, configs: PlacementConfigs, settings: PlacementSettings): boolean {
  const { cluster } = configs;
  if (cluster === undefined || cluster.isDeleting || pod.isDeleting || isLabelled(pod) || isMirror(pod)) return false;
  const createdMs = pod.createdMs ?? Infinity;
  if (createdMs < cluster.selectedSinceMs + REGISTRATION_MS) return false;
  const unbound = { ...pod, nodeName: "" };
  const planned = planAdmission(unbound, configs, settings);
  const { kind } = judgeAdmission({ ...planned, known: undefined, mayGate: true });
  return kind === "gate" || kind === "place";
}

/** The pods in namespaces that the webhook selects. Missing labels of a namespace read as none. */
export function inSelectedNamespaces(
  pods: readonly PodRef[],
  configs: PlacementConfigs,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined,
): readonly PodRef[] {
  const { cluster } = configs;
  if (cluster === undefined) return [];
  return pods.filter(({ namespace }) => matchesSelector(cluster.namespaceSelector, labelsOf(namespace)));
}

export function unadmittedEvent(pods: readonly PodRef[]): PodEvent {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const message =
    `Pods admitted without Archway: ${names.length}. The API server could not call it, or had no answer in ` +
    "time; the log of the API server names the cause (x509: its caBundle). The pods may be on nodes that their images do " +
    "not support; recreate them to have them placed: ";
  return warning(EventReason.admissionMissed, message + names.join(", "));
}

function isLabelled(pod: PodView): boolean {
  return isGated(pod) || entryOf(pod.labels, PodLabel.gate) !== undefined ||
    entryOf(pod.annotations, PodAnnotation.decision) !== undefined;
}

/** A static pod's mirror: the kubelet runs the pod regardless of the API server. */
function isMirror({ owners }: PodView): boolean {
  return owners.some(({ kind }) => kind === "Node");
}
