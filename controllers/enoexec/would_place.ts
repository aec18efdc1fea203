// What Archway would do with a pod that is created again: the pod as its owner would create it, planned and judged as any new pod.
import { Resource } from "../../lib/k8s/types.ts";
import { orAborted } from "../../lib/abort.ts";
import { openDeadline } from "../../lib/k8s/deadline.ts";
import { matchesSelector } from "../../lib/k8s/label_selector.ts";
import { judgeImages } from "../../lib/placement/images.ts";
import { planInspection } from "../../lib/placement/plan_inspection.ts";
import { pullScopeOf } from "../../lib/placement/pod_refs.ts";
import type { PodView } from "../../lib/placement/types.ts";
import type { RepairFacts } from "../../lib/enoexec/decide_repair.ts";
import type { ExecFormatDeps } from "./deps.ts";

/** Longest that the images are waited for (ms). */
const INSPECT_MS = 10_000;

/** The architectures that it would be constrained to. */
export async function wouldRequire(
  { imagesToPlace: images, clock, settingsOf, configsOf }: ExecFormatDeps,
  pod: PodView,
  signal: AbortSignal,
): Promise<RepairFacts["wouldRequire"]> {
  const settings = settingsOf(pod.namespace);
  // The node was chosen by the scheduler; what Archway required of it shows in the pod's decision record.
  const anew: PodView = { ...pod, nodeName: "", gates: undefined };
  const plan = planInspection(anew, { configs: configsOf(pod.namespace), settings });
  if (plan.kind === "decided") return "unconstrained";
  using deadline = openDeadline(INSPECT_MS, { signal, clock });
  const request = { scope: pullScopeOf(pod), images: plan.images, priority: "prewarm" } as const;
  try {
    const inspected = await orAborted(images.inspect(request, deadline.signal), deadline.signal);
    const judgement = judgeImages({ pod: anew, settings, wanted: plan.images, images: inspected });
    if (judgement.kind === "failed") return "unknown";
    // Nothing runs all of its images: a new pod would wait for ever.
    return judgement.architectures;
  } catch (error) {
    if (deadline.signal.aborted && !signal.aborted) return "unknown";
    throw error;
  }
}

/** Whether a new pod of the namespace would be gated. */
export async function isPlaced(
  { api, isGating, configsOf, settingsOf }: ExecFormatDeps,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { cluster } = configsOf(namespace);
  if (cluster === undefined || cluster.deleting || !isGating() || settingsOf(namespace).audit) return false;
  const { metadata } = await api.get(Resource.namespaces, { name: namespace }, signal);
  return matchesSelector(cluster.namespaceSelector, metadata.labels);
}
