// Pods that the API server admitted without the webhook (`failurePolicy: Ignore`). They are reported, never changed.
import { EventReason, PodAnnotation, PodLabel } from "../../../names.ts";
import type { PlacementConfigs, PlacementSettings } from "../config/types.ts";
import { isGated } from "../pod/constraints.ts";
import { clip } from "../failures.ts";
import { judgeAdmission, planAdmission } from "../gate.ts";
import { entryOf } from "../../../json.ts";
import { MAX_MESSAGE_LENGTH, type PodReport } from "./report_slots.ts";
import { matchesSelector } from "../../../vocabulary/label_selector.ts";
import type { PodView } from "../types.ts";

/** A pod that was found: no more of it is kept, because there may be many and large ones. */
export type UnadmittedPod = Pick<PodView, "namespace" | "name" | "uid">;

/** Until the webhook is registered for a selected namespace, pods are admitted without it: for at most this long (ms). */
const REGISTRATION_MS = 30_000;

/** Whether the webhook missed a pending pod: one without its label, younger than config and selector. It may have a node already. */
export function isUnadmitted(pod: PodView, configs: PlacementConfigs, settings: PlacementSettings): boolean {
  const { cluster } = configs;
  if (cluster === undefined || cluster.isDeleting || pod.isDeleting || isLabelled(pod) || isMirror(pod)) return false;
  const createdMs = pod.createdMs ?? Infinity;
  if (createdMs < cluster.selectedSinceMs + REGISTRATION_MS) return false;
  const unbound = { ...pod, nodeName: "" };
  const plan = planAdmission(unbound, configs, settings);
  const { kind } = judgeAdmission({ pod: unbound, settings, plan, known: undefined, mayGate: true });
  return kind === "gate" || kind === "place";
}

/** Those whose namespace the webhook is called for. A namespace whose labels are missing reads as one without labels. */
export function inSelectedNamespaces(
  pods: readonly UnadmittedPod[],
  configs: PlacementConfigs,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined,
): readonly UnadmittedPod[] {
  const { cluster } = configs;
  if (cluster === undefined) return [];
  return pods.filter(({ namespace }) => matchesSelector(cluster.namespaceSelector, labelsOf(namespace)));
}

export function unadmittedReport(pods: readonly UnadmittedPod[]): PodReport {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const message =
    `Pods admitted without Archway: ${names.length}. The API server could not call it, or had no answer in ` +
    "time; the log of the API server names the cause (x509: its caBundle). The pods may be on nodes that their images do " +
    "not support; recreate them to have them placed: ";
  return {
    type: "Warning",
    reason: EventReason.admissionMissed,
    message: clip(message + names.join(", "), MAX_MESSAGE_LENGTH),
  };
}

function isLabelled(pod: PodView): boolean {
  return isGated(pod) || entryOf(pod.labels, PodLabel.gate) !== undefined ||
    entryOf(pod.annotations, PodAnnotation.decision) !== undefined;
}

/** A static pod as the API shows it: its kubelet runs it whatever the API server says. */
function isMirror({ owners }: PodView): boolean {
  return owners.some(({ kind }) => kind === "Node");
}
