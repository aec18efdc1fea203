// Turns the inspections of a workload's images into the architectures on which it runs, and the blockers of others.
import { intersectArchitectures, KNOWN_ARCHITECTURES } from "../../arch.ts";
import type { InspectedImage } from "../../oci/inspection.ts";
import { notInspected } from "../../placement/decide/judge_images.ts";
import { supportOfEach } from "../../placement/decide/image_support.ts";
import type { PlacementSettings } from "../../placement/decide/config/settings.ts";
import type { Blocker, ImageSupport, Workload, WorkloadSupport } from "./types.ts";

interface SupportFacts {
  /** The architectures that are asked about; the same as for the inventory. */
  readonly candidates: readonly string[];
  /** The inspection of an image by the workload's pull secrets. */
  readonly inspected: (image: string) => InspectedImage | undefined;
  /** The architectures on which an image was seen to fail in the workload's namespace. */
  readonly failedOn: (digest: string) => readonly string[];
  readonly settings: PlacementSettings;
}

export function supportOf(workload: Workload, facts: SupportFacts): WorkloadSupport {
  const { kind, namespace, name, constrainedTo } = workload;
  const { settings, inspected } = facts;
  const inContainers = workload.images.filter((image) => !workload.volumes.includes(image));
  const counted = settings.imageVolumes === "ignore" ? inContainers : workload.images;
  const judged = supportOfEach(
    { ...workload, containerImages: new Set(inContainers) },
    settings,
    counted.map((image) => inspected(image) ?? notInspected({ image })),
  );
  const images = judged.map((one) => supportOfImage(one, { ...facts, constrainedTo }));
  const known = images.filter(({ failure }) => failure === undefined).map(({ architectures, failedOn }) =>
    architectures.filter((architecture) => !failedOn.includes(architecture))
  );
  return {
    kind,
    namespace,
    name,
    images,
    constrainedTo,
    architectures: intersectArchitectures([constrainedTo ?? facts.candidates, ...known]),
    isKnown: known.length === images.length,
  };
}

/** The workload's blockers: its constraint, then its images in order. If all are `unknown`, it may run there. */
export function blockersOf({ images, constrainedTo }: WorkloadSupport, architecture: string): readonly Blocker[] {
  const own: readonly Blocker[] = constrainedTo === undefined || constrainedTo.includes(architecture)
    ? []
    : [{ kind: "constrained", to: constrainedTo }];
  return [...own, ...images.flatMap((image) => blockerOfImage(image, architecture) ?? [])];
}

/** The workloads that run on one architecture alone, as far as that is known, with that architecture. */
export function singleArchitectureWorkloads(
  workloads: readonly WorkloadSupport[],
): readonly { readonly workload: WorkloadSupport; readonly architecture: string }[] {
  return workloads.flatMap((workload) => {
    const [architecture, ...more] = workload.architectures;
    return architecture === undefined || more.length > 0 ? [] : [{ workload, architecture }];
  });
}

function blockerOfImage(
  { image, architectures, failedOn, failure }: ImageSupport,
  architecture: string,
): Blocker | undefined {
  if (failure !== undefined) return { kind: "unknown", image, reason: failure.reason };
  if (!architectures.includes(architecture)) return { kind: "lacking", image, architectures };
  return failedOn.includes(architecture) ? { kind: "failed", image } : undefined;
}

function supportOfImage(
  { inspected: { image, inspection }, support }: ReturnType<typeof supportOfEach>[number],
  { failedOn, candidates, constrainedTo = [] }: SupportFacts & Pick<Workload, "constrainedTo">,
): ImageSupport {
  if (inspection.kind === "failed" && support.kind === "failed") {
    const { kind, reason, message } = inspection.failure;
    return { image, digest: "", architectures: [], failedOn: [], failure: { kind, reason, message } };
  }
  const digest = inspection.kind === "failed" ? "" : inspection.digest;
  const anywhere = [...KNOWN_ARCHITECTURES, ...candidates, ...constrainedTo];
  const named = support.kind === "some" ? [...support.architectures, ...support.emulated] : [];
  const architectures = intersectArchitectures([support.kind === "anywhere" ? anywhere : named]);
  const failing = failedOn(digest).filter((architecture) => architectures.includes(architecture));
  return { image, digest, architectures, failedOn: failing };
}
