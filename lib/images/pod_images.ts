// The images of a pod, inspected together: pull secrets first, then every image at once. What was learnt is remembered
// for warm admission. Called by the pod controller (awaited) and by the webhook (prefetch, never awaited).
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { InspectionPriority, InspectionReport, Inspector } from "../oci/inspector.ts";
import type { ImageUse, InspectedImage, InspectionDepth } from "../oci/types.ts";
import type { KnownImages, PullScope } from "./known_images.ts";
import type { PullSecrets } from "./pull_secrets.ts";

/** Whose images, how deep, how urgent. */
export interface PodImagesRequest {
  readonly scope: PullScope;
  readonly images: readonly ImageUse[];
  /** Images whose config must be read as well, to see whether they are bundles. */
  readonly configOf?: readonly string[];
  readonly priority: InspectionPriority;
}

/** Inspects the images of pods. */
export interface PodImages {
  /** One answer per image, in order; failures are answers. Rejects only when the signal aborts. */
  inspect(request: PodImagesRequest, signal: AbortSignal): Promise<readonly InspectedImage[]>;
  /** Starts the same in the background; what is learnt ends in the memory. Drops the request when too many wait. */
  prefetch(request: PodImagesRequest): void;
}

/** Prefetches under way at most: beyond it the controller will do the work anyway, a moment later. */
const MAX_PREFETCHES = 256;

/** Opens the service. `signal` ends all prefetches. */
export function openPodImages(options: {
  readonly inspector: Inspector;
  readonly pullSecrets: PullSecrets;
  readonly known: KnownImages;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly observe: (image: { readonly ms: number; readonly report: InspectionReport }) => void;
}): PodImages {
  const { inspector, pullSecrets, known, clock, log, observe } = options;
  const pending = new Set<string>();

  async function inspect(request: PodImagesRequest, signal: AbortSignal): Promise<readonly InspectedImage[]> {
    const { scope, images, priority, configOf = [] } = request;
    const remembered = configOf.length === 0 ? known.recall(images, scope) : undefined;
    if (remembered !== undefined) return remembered;
    const credentials = await pullSecrets.read(scope, signal);
    return await Promise.all(images.map(async (use): Promise<InspectedImage> => {
      const startedMs = clock.monotonicMs();
      const depth: InspectionDepth = configOf.includes(use.image) ? "config" : "index";
      const freshness = use.always ? "revalidate" : "cached";
      const report = await inspector.inspect({ image: use.image, credentials, freshness, depth, priority }, signal);
      observe({ ms: clock.monotonicMs() - startedMs, report });
      known.remember(use.image, report, scope);
      return { ...use, inspection: report.inspection };
    }));
  }

  function prefetch(request: PodImagesRequest): void {
    const key = JSON.stringify([request.scope, request.images]);
    if (pending.has(key) || pending.size >= MAX_PREFETCHES || options.signal.aborted) return;
    pending.add(key);
    inspect(request, options.signal)
      .catch((error: unknown) => log.debug("prefetch ended early", { reason: errorText(error) }))
      .finally(() => pending.delete(key));
  }

  return { inspect, prefetch };
}
