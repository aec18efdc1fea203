// Warnings about images on nodes whose architecture they lack: of DaemonSets, pinned and running pods.
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import { entryOf } from "../../../json.ts";
import type { InspectedImage } from "../../../oci/inspection.ts";
import { EventReason } from "../../../names.ts";
import type { ImageJudgement } from "../decision_types.ts";
import type { PlacementSettings } from "../config/settings.ts";
import { emulatedFor, operatingSystemOf, usablePlatforms } from "../image_support.ts";
import { allowedArchitectures, pinnedArchitectures } from "../pod/constraints.ts";
import { withoutArchwaysRequirement } from "../pod/archways_terms.ts";
import type { ContainerView, PodView } from "../pod/pod_view.ts";
import { type PodEvent, type SlottedEvent, warning } from "./event_slots.ts";

/** Undefined if its images run on every architecture that its template allows, or cannot be inspected. */
export function daemonSetEvent(
  template: PodView,
  judgement: ImageJudgement,
  liveArchitectures: readonly string[],
): PodEvent | undefined {
  if (judgement.kind === "failed") return undefined;
  const wanted = allowedArchitectures(template, liveArchitectures) ?? liveArchitectures;
  const missing = wanted.filter((architecture) => !judgement.architectures.includes(architecture));
  if (missing.length === 0) return undefined;
  const images = judgement.outcomes
    .filter(({ architectures }) => missing.some((architecture) => !architectures.includes(architecture)))
    .map(({ image, architectures }) => `${image} (${architectures.join(", ") || "none"})`);
  const message = `Nodes of {${missing.join(", ")}} cannot run this DaemonSet. Images: ${images.join("; ")}. ` +
    `Use images that support them, or keep the DaemonSet off those nodes by a kubernetes.io/arch node affinity.`;
  return warning(EventReason.noSupportedArchitectures, message);
}

/** Undefined if the images support an architecture that the pod's user names, or cannot be inspected. */
export function pinEvent(pod: PodView, judgement: ImageJudgement): PodEvent | undefined {
  if (judgement.kind === "failed") return undefined;
  const candidates = [...KNOWN_ARCHITECTURES, ...judgement.architectures];
  const pinned = pinnedArchitectures(withoutArchwaysRequirement(pod), candidates);
  if (pinned === undefined || pinned.some((architecture) => judgement.architectures.includes(architecture))) {
    return undefined;
  }
  const images = judgement.outcomes
    .filter(({ architectures }) => !architectures.some((architecture) => pinned.includes(architecture)))
    .map(({ image, architectures }) => `${image} has {${architectures.join(", ")}}`);
  const cause = images.length === 0 ? `the images share {${judgement.architectures.join(", ")}}` : images.join("; ");
  const message = `A pod requires nodes of {${pinned.join(", ")}} by its own nodeSelector or affinity, and ${cause}. ` +
    "Take the constraint off, or use images for it.";
  return warning(EventReason.pinContradicted, message);
}

/** The containers of a bound pod with an image that was added later, and how it came. */
export interface LateImages {
  readonly came: "ephemeral" | "exchanged";
  readonly containers: readonly ContainerView[];
}

/** The containers whose image an update has changed. Updates can change neither their order nor anything else. */
export function exchangedContainers(before: PodView, pod: PodView): readonly ContainerView[] {
  const imageAt = new Map(before.containers.map(({ imagePointer, image }) => [imagePointer, image]));
  return pod.containers.filter(({ imagePointer, image }) => (imageAt.get(imagePointer) ?? image) !== image);
}

/** The containers by which these are judged: beside a Wasm image, a RuntimeClass emulates no native image. */
export function containersToKnow(
  pod: PodView,
  containers: readonly ContainerView[],
  { runtimeClasses }: PlacementSettings,
): readonly ContainerView[] {
  return entryOf(runtimeClasses, pod.runtimeClassName)?.kind === "add"
    ? [...containers, ...pod.containers]
    : containers;
}

interface LateFacts extends LateImages {
  readonly settings: PlacementSettings;
  /** The node's architecture; undefined while nodes are not followed. Then the pod's node requirements count. */
  readonly nodeArchitecture: string | undefined;
  /** For all containers of {@link containersToKnow}. */
  readonly images: readonly InspectedImage[];
}

/** Undefined when all these containers can run on the pod's node, or when that is unknown. */
export function lateImagesEvent(
  pod: PodView,
  { came, containers, settings, nodeArchitecture, images }: LateFacts,
): SlottedEvent | undefined {
  const inspectedOf = new Map(images.map((one) => [one.image, one]));
  const on = nodeArchitecture === undefined ? pinnedArchitectures(pod) : [nodeArchitecture];
  if (on === undefined || on.length === 0) return undefined;
  const mismatches = containers.flatMap(({ name, image }) => {
    const inspection = inspectedOf.get(image)?.inspection;
    if (inspection?.kind !== "platforms") return [];
    const { platforms } = inspection;
    const usable = usablePlatforms(platforms, operatingSystemOf(pod)).map(({ architecture }) => architecture);
    const architectures = [...new Set(usable)].sort();
    const emulated = emulatedFor(pod, settings, { platforms, images });
    if ([...architectures, ...emulated].some((architecture) => on.includes(architecture))) return [];
    return [
      `${came === "ephemeral" ? "Ephemeral container" : "Container"} "${name}" cannot run on node "${pod.nodeName}" ` +
      `(${on.join(" or ")}): image ${image} supports {${architectures.join(", ")}}.`,
    ];
  });
  if (mismatches.length === 0) return undefined;
  // By now, the event of the gate is the least important.
  return { ...warning(EventReason.noSupportedArchitectures, mismatches.join(" ")), slot: 1 };
}
