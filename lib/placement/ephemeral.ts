// Ephemeral containers come after placement: one whose image cannot run on the pod's node fails without a word. The
// controller asks here for the event. Source: peers idea I22.
import { EventReason } from "../names.ts";
import { clip } from "./failures.ts";
import { operatingSystemOf, usablePlatforms } from "./images.ts";
import type { ContainerView, ImageFact, PodReport, PodView } from "./types.ts";

/** An ephemeral container, its image, and the architecture of the node that the pod runs on. */
export interface EphemeralFacts {
  readonly container: ContainerView;
  readonly fact: ImageFact;
  readonly nodeArchitecture: string;
}

/** The event to post on the pod; undefined when the container can run or nobody knows. */
export function ephemeralReport(
  pod: PodView,
  { container, fact, nodeArchitecture }: EphemeralFacts,
): PodReport | undefined {
  if (fact.inspection.kind !== "platforms") return undefined;
  const usable = usablePlatforms(fact.inspection.platforms, operatingSystemOf(pod));
  const architectures = [...new Set(usable.map(({ architecture }) => architecture))].sort();
  if (architectures.includes(nodeArchitecture)) return undefined;
  const message =
    `Ephemeral container "${container.name}" cannot run on node "${pod.nodeName}" (${nodeArchitecture}): ` +
    `image ${container.image} supports {${architectures.join(", ")}}.`;
  return { type: "Warning", reason: EventReason.noSupportedArchitectures, message: clip(message, 1024) };
}
