// Warnings about images that start on a node whose architecture they do not support, because they are not placed: pods of
// DaemonSets (`--daemonsets=warn`), which every node gets, and ephemeral containers, which are added to a running pod.
import type { ImageUse, InspectedImage } from "../../oci/types.ts";
import { EventReason } from "../../names.ts";
import type { PlacementSettings } from "../config/types.ts";
import { clip } from "../failures.ts";
import { judgeImages, operatingSystemOf, usablePlatforms } from "../images.ts";
import { allowedArchitectures } from "../patch/constraints.ts";
import type { ContainerView, PodView } from "../types.ts";
import { MESSAGE_MAX, type PlacedReport, type PodReport } from "./report_slots.ts";

/** A DaemonSet to judge: its pod template as a pod, its images, and what the cluster's nodes are. */
export interface DaemonSetFacts {
  readonly template: PodView;
  readonly settings: PlacementSettings;
  /** The images to inspect, and what came of it. */
  readonly wanted: readonly ImageUse[];
  readonly images: readonly InspectedImage[];
  readonly liveArchitectures: readonly string[];
}

/**
 * The event to post on the DaemonSet; undefined when its images run on every architecture that its template does not exclude by
 * name, or cannot be inspected.
 */
export function daemonSetReport(facts: DaemonSetFacts): PodReport | undefined {
  const judgement = judgeImages({ ...facts, pod: facts.template });
  if (judgement.kind === "failed") return undefined;
  const wanted = allowedArchitectures(facts.template, facts.liveArchitectures) ?? facts.liveArchitectures;
  const missing = wanted.filter((architecture) => !judgement.architectures.includes(architecture));
  if (missing.length === 0) return undefined;
  const images = judgement.outcomes
    .filter(({ architectures }) => missing.some((architecture) => !architectures.includes(architecture)))
    .map(({ image, architectures }) => `${image} (${architectures.join(", ") || "none"})`);
  const message = `Nodes of {${missing.join(", ")}} cannot run this DaemonSet. Images: ${images.join("; ")}. ` +
    `Use images that support them, or keep the DaemonSet off those nodes by a kubernetes.io/arch node affinity.`;
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message: clip(message, MESSAGE_MAX) };
}

/** An ephemeral container, its image, and the architecture of the node that the pod runs on. */
export interface EphemeralFacts {
  readonly container: ContainerView;
  readonly fact: InspectedImage;
  readonly nodeArchitecture: string;
}

/** The one event to post on the pod; undefined when all its ephemeral containers can run, or that is not known. */
export function ephemeralReport(pod: PodView, all: readonly EphemeralFacts[]): PlacedReport | undefined {
  const mismatches = all.map((facts) => mismatchText(pod, facts)).filter((text) => text !== undefined);
  if (mismatches.length === 0) return undefined;
  const message = clip(mismatches.join(" "), MESSAGE_MAX);
  // The event of the gate is the least important one by now.
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message, slot: 1, critical: false };
}

function mismatchText(pod: PodView, { container, fact, nodeArchitecture }: EphemeralFacts): string | undefined {
  if (fact.inspection.kind !== "platforms") return undefined;
  const usable = usablePlatforms(fact.inspection.platforms, operatingSystemOf(pod));
  const architectures = [...new Set(usable.map(({ architecture }) => architecture))].sort();
  if (architectures.includes(nodeArchitecture)) return undefined;
  return `Ephemeral container "${container.name}" cannot run on node "${pod.nodeName}" (${nodeArchitecture}): ` +
    `image ${container.image} supports {${architectures.join(", ")}}.`;
}
