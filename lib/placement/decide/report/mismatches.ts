// Warnings about images that start on a node whose architecture they do not support, because they are not placed: pods of
// DaemonSets (`--daemonsets=warn`), which every node gets, pods that name architectures themselves, and ephemeral containers,
// which are added to a running pod.
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import type { InspectedImage } from "../../../oci/types.ts";
import { EventReason } from "../../../names.ts";
import type { ImageJudgement } from "../decision_types.ts";
import { clip } from "../failures.ts";
import { operatingSystemOf, usablePlatforms } from "../images.ts";
import { allowedArchitectures } from "../patch/constraints.ts";
import type { PodView } from "../types.ts";
import { MESSAGE_MAX, type PlacedReport, type PodReport } from "./report_slots.ts";

/**
 * The event to post on the DaemonSet; undefined when its images run on every architecture that its template does not exclude by
 * name, or cannot be inspected.
 */
export function daemonSetReport(
  template: PodView,
  judgement: ImageJudgement,
  liveArchitectures: readonly string[],
): PodReport | undefined {
  if (judgement.kind === "failed") return undefined;
  const wanted = allowedArchitectures(template, liveArchitectures) ?? liveArchitectures;
  const missing = wanted.filter((architecture) => !judgement.architectures.includes(architecture));
  if (missing.length === 0) return undefined;
  const images = judgement.outcomes
    .filter(({ architectures }) => missing.some((architecture) => !architectures.includes(architecture)))
    .map(({ image, architectures }) => `${image} (${architectures.join(", ") || "none"})`);
  const message = `Nodes of {${missing.join(", ")}} cannot run this DaemonSet. Images: ${images.join("; ")}. ` +
    `Use images that support them, or keep the DaemonSet off those nodes by a kubernetes.io/arch node affinity.`;
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message: clip(message, MESSAGE_MAX) };
}

/**
 * The event about a pod that names architectures itself, by nodeSelector or node affinity, where its images have none of them;
 * undefined when they have, or cannot be inspected.
 */
export function pinReport(pod: PodView, judgement: ImageJudgement): PodReport | undefined {
  if (judgement.kind === "failed" || judgement.architectures.length === 0) return undefined;
  const candidates = [...new Set([...KNOWN_ARCHITECTURES, ...judgement.architectures])].sort();
  const pinned = allowedArchitectures(pod, candidates);
  if (pinned === undefined || pinned.some((architecture) => judgement.architectures.includes(architecture))) {
    return undefined;
  }
  const images = judgement.outcomes
    .filter(({ architectures }) => !architectures.some((architecture) => pinned.includes(architecture)))
    .map(({ image, architectures }) => `${image} has {${architectures.join(", ")}}`);
  const cause = images.length === 0 ? `the images share {${judgement.architectures.join(", ")}}` : images.join("; ");
  const message = `A pod requires nodes of {${pinned.join(", ")}} by its own nodeSelector or affinity, and ${cause}. ` +
    "Archway leaves it as it is. Take the constraint off, or use images for it.";
  return { type: "Warning", reason: EventReason.pinContradicted, message: clip(message, MESSAGE_MAX) };
}

/**
 * The one event to post on the pod; undefined when all its ephemeral containers can run on its node, or that is not known.
 * `factOf`: what was inspected, by image.
 */
export function ephemeralReport(
  pod: PodView,
  nodeArchitecture: string,
  factOf: ReadonlyMap<string, InspectedImage>,
): PlacedReport | undefined {
  const mismatches = pod.ephemeralContainers.flatMap(({ name, image }) => {
    const inspection = factOf.get(image)?.inspection;
    if (inspection?.kind !== "platforms") return [];
    const usable = usablePlatforms(inspection.platforms, operatingSystemOf(pod));
    const architectures = [...new Set(usable.map(({ architecture }) => architecture))].sort();
    if (architectures.includes(nodeArchitecture)) return [];
    return [
      `Ephemeral container "${name}" cannot run on node "${pod.nodeName}" (${nodeArchitecture}): ` +
      `image ${image} supports {${architectures.join(", ")}}.`,
    ];
  });
  if (mismatches.length === 0) return undefined;
  const message = clip(mismatches.join(" "), MESSAGE_MAX);
  // The event of the gate is the least important one by now.
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message, slot: 1, critical: false };
}
