// Which images of a pod are inspected, and the fields of a pod by which they are judged.
import { NODE_OS_LABEL } from "../../names.ts";
import type { ImageUse } from "../../oci/inspection.ts";
import type { PlacementSettings } from "./config/settings.ts";
import { hasSkippedRuntimeClass } from "./ignore.ts";
import { operatingSystemOf } from "./image_support.ts";
import { allowedArchitectures } from "./pod/constraints.ts";
import { withoutArchwaysRequirement } from "./pod/archways_terms.ts";
import type { PodView } from "./pod/pod_view.ts";

/**
 * The most images of one pod that are inspected. A pod that names more is released, or falls back, without inspection.
 */
export const MAX_IMAGES = 200;

/** The distinct (image, pullsAlways) pairs of containers, init containers and, unless ignored, image volumes. */
export function imagesToInspect(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const wanted: ImageUse[] = [];
  const seen = { plain: new Set<string>(), always: new Set<string>() };
  const volumes = settings.imageVolumes === "ignore" ? [] : pod.imageVolumes;
  for (const { image, pullPolicy } of volumes.length === 0 ? pod.containers : [...pod.containers, ...volumes]) {
    const pullsAlways = pullPolicy === "Always";
    const same = pullsAlways ? seen.always : seen.plain;
    if (image === "" || same.has(image)) continue;
    same.add(image);
    wanted.push({ image, pullsAlways });
  }
  return wanted;
}

/** The images of a pod that is decided without them. Empty if there are too many or its RuntimeClass is skipped. */
export function imagesOfDecided(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const images = hasSkippedRuntimeClass(pod, settings) ? [] : imagesToInspect(pod, settings);
  return images.length > MAX_IMAGES ? [] : images;
}

/** The images with which a pod's own architecture constraint is compared; empty for a pod without a constraint. */
export function pinnedImages(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const isPinned = allowedArchitectures(withoutArchwaysRequirement(pod), []) !== undefined;
  return isPinned ? imagesOfDecided(pod, settings) : [];
}

/** The pod with only the fields by which its images are judged: no large pod stays in memory during inspections. */
export function reduceToImages(pod: PodView, wanted: readonly ImageUse[]): PodView {
  const images = new Set(wanted.map(({ image }) => image));
  return {
    ...pod,
    nodeSelector: { [NODE_OS_LABEL]: operatingSystemOf(pod) },
    // Each image once.
    containers: pod.containers.filter(({ image }) => images.delete(image)),
    labels: undefined,
    annotations: undefined,
    record: undefined,
    requiredTerms: undefined,
    preferredTerms: undefined,
    tolerations: undefined,
    owners: [],
    ephemeralContainers: [],
    imageVolumes: [],
  };
}
