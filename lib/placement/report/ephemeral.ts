// Ephemeral containers come after placement: one whose image cannot run on the pod's node fails without a
// word. An event on the pod names it.
import type { InspectedImage } from "../../oci/types.ts";
import { EventReason } from "../../names.ts";
import { clip } from "../failures.ts";
import { operatingSystemOf, usablePlatforms } from "../images.ts";
import type { PlacedReport } from "./report_slots.ts";
import type { ContainerView, PodView } from "../types.ts";

/** An ephemeral container, its image, and the architecture of the node that the pod runs on. */
export interface EphemeralFacts {
  readonly container: ContainerView;
  readonly fact: InspectedImage;
  readonly nodeArchitecture: string;
}

/** The one event to post on the pod; undefined when all its ephemeral containers can run, or that is not known. */
export function ephemeralReport(pod: PodView, all: readonly EphemeralFacts[]): PlacedReport | undefined {
  const misfits = all.map((facts) => misfitText(pod, facts)).filter((text) => text !== undefined);
  if (misfits.length === 0) return undefined;
  const message = clip(misfits.join(" "), 1024);
  // The event of the gate is the least important one by now.
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message, slot: 1, critical: false };
}

function misfitText(pod: PodView, { container, fact, nodeArchitecture }: EphemeralFacts): string | undefined {
  if (fact.inspection.kind !== "platforms") return undefined;
  const usable = usablePlatforms(fact.inspection.platforms, operatingSystemOf(pod));
  const architectures = [...new Set(usable.map(({ architecture }) => architecture))].sort();
  if (architectures.includes(nodeArchitecture)) return undefined;
  return `Ephemeral container "${container.name}" cannot run on node "${pod.nodeName}" (${nodeArchitecture}): ` +
    `image ${container.image} supports {${architectures.join(", ")}}.`;
}
