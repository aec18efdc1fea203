// From the inspections of a workload's images to the architectures on which it runs, and to what blocks each of the others.
import { intersectArchitectures, KNOWN_ARCHITECTURES } from "../arch.ts";
import type { InspectedImage } from "../oci/types.ts";
import { hasWasm, isData, usablePlatforms } from "../placement/decide/images.ts";
import type { ImageVolumes } from "../placement/decide/config/types.ts";
import type { Blocker, ImageSupport, Workload, WorkloadSupport } from "./types.ts";

interface SupportFacts {
  /** The architectures that count: those for which the workload was gathered. */
  readonly candidates: readonly string[];
  /** What a registry said of an image to the workload's pull secrets. */
  readonly inspected: (image: string) => InspectedImage | undefined;
  /** The architectures on which an image was seen to fail in the workload's namespace. */
  readonly failedOn: (digest: string) => readonly string[];
  readonly imageVolumes: ImageVolumes;
}

export function supportOf(workload: Workload, facts: SupportFacts): WorkloadSupport {
  const { kind, namespace, name, constrainedTo } = workload;
  const counted = facts.imageVolumes === "ignore"
    ? workload.images.filter((image) => !workload.volumes.includes(image))
    : workload.images;
  const images = counted.map((image) =>
    supportOfImage(image, { ...facts, workload, isVolume: workload.volumes.includes(image) })
  );
  const known = images.filter(({ failure }) => failure === undefined).map(({ architectures, failedOn }) =>
    architectures.filter((architecture) => !failedOn.includes(architecture))
  );
  return {
    kind,
    namespace,
    name,
    images,
    constrainedTo,
    architectures: intersectArchitectures([facts.candidates, constrainedTo ?? facts.candidates, ...known]),
    isKnown: known.length === images.length,
  };
}

/**
 * What keeps a workload from an architecture, in the order of its images; empty when it runs there. Where only blockers of
 * the kind `unknown` are left, it may run there.
 */
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
  image: string,
  { inspected, failedOn, candidates, imageVolumes, workload: { os, runsWasm }, isVolume }: SupportFacts & {
    readonly workload: Workload;
    readonly isVolume: boolean;
  },
): ImageSupport {
  const inspection = inspected(image)?.inspection;
  const nothing = { image, digest: "", architectures: [], failedOn: [] };
  if (inspection === undefined) {
    return { ...nothing, failure: { kind: "transient", reason: "Timeout", message: "it was not inspected" } };
  }
  const isWasm = runsWasm && !isVolume && inspection.kind === "platforms" && hasWasm(inspection.platforms);
  const runsAnywhere = isWasm || isVolume && isData(inspection, imageVolumes);
  if (inspection.kind === "failed" && !runsAnywhere) {
    const { kind, reason, message } = inspection.failure;
    return { ...nothing, failure: { kind, reason, message } };
  }
  const digest = inspection.kind === "failed" ? "" : inspection.digest;
  const named = inspection.kind !== "platforms" || runsAnywhere
    ? [...KNOWN_ARCHITECTURES, ...candidates]
    : usablePlatforms(inspection.platforms, os).map((platform) => platform.architecture);
  const architectures = intersectArchitectures([named]);
  const failing = failedOn(digest).filter((architecture) => architectures.includes(architecture));
  return { image, digest, architectures, failedOn: failing };
}
