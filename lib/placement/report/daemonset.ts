// DaemonSets whose images miss an architecture of the cluster (`--daemonsets=warn`): each such node gets a pod that
// cannot run. An event on the DaemonSet names those images.
import type { ImageUse, InspectedImage } from "../../oci/types.ts";
import { EventReason } from "../../names.ts";
import { judgeImages } from "../images.ts";
import type { PlacementSettings } from "../config/types.ts";
import { clip } from "../failures.ts";
import type { PodReport } from "./report_slots.ts";
import type { PodView } from "../types.ts";

/** A DaemonSet to judge: its pod template as a pod, its images, and what the cluster's nodes are. */
export interface DaemonSetFacts {
  readonly template: PodView;
  readonly settings: PlacementSettings;
  /** The images to inspect, and what came of it. */
  readonly wanted: readonly ImageUse[];
  readonly images: readonly InspectedImage[];
  readonly liveArchitectures: readonly string[];
}

/** The event to post on the DaemonSet; undefined when its images run everywhere, or cannot be inspected. */
export function daemonSetReport(facts: DaemonSetFacts): PodReport | undefined {
  const judgement = judgeImages({ ...facts, pod: facts.template });
  if (judgement.kind === "failed") return undefined;
  const missing = facts.liveArchitectures.filter((architecture) => !judgement.architectures.includes(architecture));
  if (missing.length === 0) return undefined;
  const culprits = judgement.outcomes
    .filter(({ architectures }) => missing.some((architecture) => !architectures.includes(architecture)))
    .map(({ image, architectures }) => `${image} (${architectures.join(", ") || "none"})`);
  const message = `Nodes of {${missing.join(", ")}} cannot run this DaemonSet. Images: ${culprits.join("; ")}. ` +
    `Use images that support them, or keep the DaemonSet off those nodes by a kubernetes.io/arch node affinity.`;
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message: clip(message, 1024) };
}
