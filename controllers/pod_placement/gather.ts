// Everything a decision about a gated pod needs: the configs, its age, and what each of its images says of itself.
import type { ImageUse, InspectedImage } from "../../lib/oci/types.ts";
import type { PodImagesRequest } from "../../lib/images/pod_images.ts";
import { openDeadline } from "../../lib/k8s/deadline.ts";
import { needsInspection } from "../../lib/placement/decide.ts";
import { imagesToInspect, imagesWorthConfigRead } from "../../lib/placement/images.ts";
import type { PlacementFacts, PodView } from "../../lib/placement/types.ts";
import { renderDuration } from "../../lib/duration.ts";
import type { RetryState } from "./retry_state.ts";
import type { PodPlacementDeps } from "./deps.ts";

/** The least time an inspection gets, also for a pod that has waited too long already (ms). */
const LEAST_INSPECTION_MS = 2_000;
/** What a pod has left at least when a leader first sees it (ms): that nobody was there to place it is not its fault. */
const FRESH_CHANCE_MS = 5_000;

/** Gathers the facts. Rejects only when the signal aborts: whatever the images do, the answer is a fact in time. */
export async function gatherFacts(
  parts: PodPlacementDeps,
  pod: PodView,
  options: { readonly file: RetryState; readonly signal: AbortSignal },
): Promise<PlacementFacts> {
  const { file, signal } = options;
  const settings = parts.settingsOf(pod.namespace);
  const configs = parts.configsOf(pod.namespace);
  const live = parts.liveArchitectures();
  const facts = {
    pod,
    configs,
    settings,
    failedAttempts: file.failedAttempts,
    jitter: parts.random(),
    ...(live === undefined ? {} : { liveArchitectures: live }),
  };
  if (!needsInspection(pod, configs, settings)) {
    return { ...facts, images: [], gateAgeMs: countedAgeMs(parts, pod, file) };
  }
  const startedMs = parts.clock.monotonicMs();
  const leftMs = Math.max(LEAST_INSPECTION_MS, settings.maxGateAgeMs - countedAgeMs(parts, pod, file));
  const images = await inspectWithin(parts, pod, { leftMs, signal });
  parts.metrics.podImagesInspected(parts.clock.monotonicMs() - startedMs);
  return { ...facts, images, gateAgeMs: countedAgeMs(parts, pod, file) };
}

/**
 * How long the pod has been held: by its creation time on the API server's clock, or since this process saw it, if
 * that is longer. Our own clock may be wrong or jump; the server's offset corrects it.
 */
export function gateAgeMs(parts: PodPlacementDeps, pod: PodView, file: RetryState): number {
  const serverNowMs = parts.clock.nowMs() + parts.api.serverClockOffsetMs();
  const byCreation = pod.creationTimestampMs === undefined ? 0 : serverNowMs - pod.creationTimestampMs;
  return Math.max(0, byCreation, parts.clock.monotonicMs() - file.firstSeenMs);
}

/** The age that counts against the longest gate age (invariant 1: from when the API server and one replica are up). */
function countedAgeMs(parts: PodPlacementDeps, pod: PodView, file: RetryState): number {
  const { maxGateAgeMs } = parts.settingsOf(pod.namespace);
  const seenForMs = parts.clock.monotonicMs() - file.firstSeenMs;
  return Math.min(gateAgeMs(parts, pod, file), Math.max(0, maxGateAgeMs - FRESH_CHANCE_MS) + seenForMs);
}

async function inspectWithin(
  parts: PodPlacementDeps,
  pod: PodView,
  { leftMs, signal }: { readonly leftMs: number; readonly signal: AbortSignal },
): Promise<readonly InspectedImage[]> {
  const wanted = imagesToInspect(pod, parts.settingsOf(pod.namespace));
  const request: PodImagesRequest = { scope: scopeOf(pod), images: wanted, priority: "gated" };
  using deadline = openDeadline(leftMs, { signal, clock: parts.clock });
  try {
    return await inspectAll(parts, pod, { request, signal: deadline.signal });
  } catch (error) {
    if (signal.aborted || !deadline.signal.aborted) throw error;
    return wanted.map((image) => tooSlow(image, leftMs));
  }
}

async function inspectAll(
  parts: PodPlacementDeps,
  pod: PodView,
  { request, signal }: { readonly request: PodImagesRequest; readonly signal: AbortSignal },
): Promise<readonly InspectedImage[]> {
  const images = await parts.images.inspect(request, signal);
  const configOf = imagesWorthConfigRead({ pod, settings: parts.settingsOf(pod.namespace), images });
  if (configOf.length === 0) return images;
  // An operator bundle narrows nothing, but only its config tells: read it where it would make a difference.
  return await parts.images.inspect({ ...request, configOf }, signal);
}

/** Whose pull secrets may be used for a pod. */
export function scopeOf(pod: PodView): PodImagesRequest["scope"] {
  return { namespace: pod.namespace, pullSecrets: pod.imagePullSecrets };
}

function tooSlow({ image, pullPolicy }: ImageUse, afterMs: number): InspectedImage {
  const message = `no answer within the ${renderDuration(afterMs)} that were left of the longest gate age`;
  return {
    image,
    pullPolicy,
    inspection: { kind: "failed", failure: { kind: "transient", reason: "Timeout", message } },
  };
}
