// Inspects a pod's images together: from memory, else with its pull secrets, all images in parallel.
//
//   inspect ─ KnownImages: are all known? ─ PullSecrets of the pod ─ Inspector (oci/), for each image ─ KnownImages
import type { Clock } from "../../clock.ts";
import type { PullIdentity } from "../../vocabulary/pull_identity.ts";
import { errorText, type Logger } from "../../log.ts";
import type { FairLimiter } from "../../oci/limits/fair_limiter.ts";
import type { InspectionReport, InspectionRequest } from "../../oci/inspection_request.ts";
import type { ImageUse, InspectedImage } from "../../oci/inspection.ts";
import type { Inspector } from "../../oci/inspector.ts";
import { callersOf, type InspectionPriority } from "../../oci/callers.ts";
import type { KnownImages, KnownPodImages } from "./known_images.ts";
import { BACKGROUND_SHARES, type WorkLimits } from "../../oci/limits/work_limits.ts";
import type { PullCredentials, PullSecrets } from "./pull_secrets.ts";

export interface PodImagesRequest {
  readonly identity: PullIdentity;
  readonly images: readonly ImageUse[];
  /** Images that may be operator bundles. Their configs are read as well to find out. */
  readonly possibleBundles?: readonly string[];
  readonly priority: InspectionPriority;
  /** For `pullsAlways` images, only look-ups begun since this time may answer (monotonic ms). Default: now. */
  readonly lookupSinceMs?: number | undefined;
  /** Whether to look up tags past half of their TTL again, which could still be used. */
  readonly mayRenew?: boolean | undefined;
}

export interface PodImageInspector {
  /** Each image under inspection takes one, since any number of pods may be gated, prefetched or checked. */
  readonly permits: FairLimiter;
  /** One answer per image, in order; failures are answers. Rejects only when the signal aborts. */
  inspect(request: PodImagesRequest, signal: AbortSignal): Promise<readonly InspectedImage[]>;
  /** The same from memory only; undefined when any request or read is needed. */
  recall(request: Omit<PodImagesRequest, "priority" | "mayRenew">): KnownPodImages | undefined;
  /** Inspects in the background all but `pullsAlways` images, or none while too many images are being inspected. */
  prefetch(request: PodImagesRequest): void;
}

const MAX_NAMED = 3;

interface PodImagesDeps extends PodImagesOptions {
  readonly inspector: Pick<Inspector, "inspect">;
  readonly pullSecrets: Pick<PullSecrets, "read">;
  readonly known: KnownImages;
  readonly limits: Pick<WorkLimits, "images">;
}

export interface PodImagesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly observe?: (image: { readonly ms: number; readonly report: InspectionReport }) => void;
}

export function openPodImageInspector(deps: PodImagesDeps): PodImageInspector {
  const { limits: { images: permits }, log } = deps;
  const inspect: PodImageInspector["inspect"] = (request, signal) => inspectImages(deps, request, signal);
  const prefetched = new Set<string>();

  function prefetch(request: PodImagesRequest): void {
    const images = request.images.filter(({ pullsAlways }) => !pullsAlways);
    const key = JSON.stringify([request.identity, images]);
    if (images.length === 0 || deps.signal.aborted || prefetched.has(key)) return;
    const size = { weight: images.length, maxShare: BACKGROUND_SHARES.ungated };
    const permit = permits.tryAcquire(request.identity.namespace, size);
    if (permit === undefined) return;
    prefetched.add(key);
    inspect({ ...request, images }, deps.signal)
      .catch((error: unknown) => log.debug("prefetch ended early", { reason: errorText(error) }))
      .finally(() => {
        prefetched.delete(key);
        permit.release();
      });
  }

  return { permits, inspect, recall: (request) => recallImages(deps, request), prefetch };
}

/** Answers from memory when it knows all images; else the inspector reads each of them. */
async function inspectImages(
  deps: PodImagesDeps,
  request: PodImagesRequest,
  signal: AbortSignal,
): Promise<readonly InspectedImage[]> {
  const { inspector, pullSecrets, known, clock, observe } = deps;
  const {
    identity,
    images,
    possibleBundles = [],
    priority,
    mayRenew = false,
    lookupSinceMs = clock.monotonicMs(),
  } = request;
  const remembered = recallImages(deps, { ...request, lookupSinceMs });
  if (remembered !== undefined && !(mayRenew && remembered.isAging)) return remembered.images;
  const callers = callersOf({ namespace: identity.namespace, priority });
  const usual = mayRenew ? "young" : "cached";
  const pull = await pullSecrets.read(identity, { callers, signal });
  return await Promise.all(images.map(async (use): Promise<InspectedImage> => {
    const startedMs = clock.monotonicMs();
    const asked: InspectionRequest = {
      image: use.image,
      credentials: pull.credentials,
      freshness: use.pullsAlways ? { lookupSinceMs } : usual,
      depth: possibleBundles.includes(use.image) ? "config" : "index",
      callers,
    };
    const report = withPullProblems(await inspector.inspect(asked, signal), pull);
    observe?.({ ms: clock.monotonicMs() - startedMs, report });
    known.remember(use.image, report, identity);
    return { ...use, inspection: report.inspection };
  }));
}

function recallImages(
  { known }: PodImagesDeps,
  { identity, images, possibleBundles = [], lookupSinceMs }: Parameters<PodImageInspector["recall"]>[0],
): KnownPodImages | undefined {
  return possibleBundles.length === 0 ? known.recall(images, identity, lookupSinceMs) : undefined;
}

/** Replaces a permanent failure by `problem` if pull secrets could not be read. Adds unusable ones to `Unauthorized` failures. */
function withPullProblems(report: InspectionReport, { problem, unusable = [] }: PullCredentials): InspectionReport {
  const { inspection } = report;
  if (inspection.kind !== "failed" || inspection.failure.kind === "transient") return report;
  const { failure } = inspection;
  if (problem !== undefined) return { ...report, inspection: { kind: "failed", failure: problem } };
  if (failure.reason !== "Unauthorized" || unusable.length === 0) return report;
  const named = unusable.slice(0, MAX_NAMED).join(", ");
  const message = `${failure.message} Pull secrets of no use: ${named}${unusable.length > MAX_NAMED ? ", …" : ""}.`;
  return { ...report, inspection: { kind: "failed", failure: { ...failure, message } } };
}
