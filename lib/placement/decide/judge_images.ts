// Turns the inspections of a pod's images into the architectures that they share, or into one failure.
import { intersectArchitectures, KNOWN_ARCHITECTURES } from "../../arch.ts";
import type { ImageUse, InspectedImage } from "../../oci/inspection.ts";
import { assertNever } from "../../parsed.ts";
import type { PlacementSettings } from "./config/settings.ts";
import { imageFactsOf, type Judged, supportOfEach } from "./image_support.ts";
import type { ImageFailure, ImageJudgement, ImageOutcome } from "./decision_types.ts";
import type { Evidence, PlannedPod } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";
import { joinVariants } from "./variants.ts";

/** Fails if any image failed: with the first permanent failure, else the first transient one and the longest pause. */
export function judgeImages(
  pod: PodView,
  settings: PlacementSettings,
  wanted: readonly ImageUse[],
  images: readonly InspectedImage[],
): ImageJudgement {
  const inspected = new Set(images.map(({ image }) => image));
  const missing = wanted.filter(({ image }) => !inspected.has(image)).map((use) => notInspected(use));
  const judged = supportOfEach(imageFactsOf(pod), settings, [...images, ...missing]);
  const outcomes = firstOfEachImage(judged.map(outcomeOf));
  const possibleBundles = imagesThatMayBeBundles(judged);
  const failures = judged.flatMap(({ inspected: { image }, support }) =>
    support.kind === "failed" ? [{ image, failure: support.failure }] : []
  );
  const failed = worstFailure(failures);
  if (failed !== undefined) return { kind: "failed", failed, outcomes, possibleBundles };
  const sets = judged.flatMap(({ support }) => support.kind === "some" ? [support] : []);
  const architectures = sets.length === 0
    ? [...KNOWN_ARCHITECTURES].sort()
    : intersectArchitectures(sets.map(({ architectures, emulated }) => [...architectures, ...emulated]));
  const variants = joinVariants(sets.map((set) => set.variants));
  const findings = [...new Set(images.flatMap(findingsOf))];
  return { kind: "shared", architectures, variants, findings, outcomes, possibleBundles };
}

/** Images that exclude architectures and whose config is not read. An operator bundle would exclude none. */
function imagesThatMayBeBundles(judged: readonly Judged[]): readonly string[] {
  const sets = judged.flatMap(({ inspected, support }) => support.kind === "some" ? [{ inspected, support }] : []);
  const all = new Set(sets.flatMap(({ support }) => support.architectures));
  const worth = sets.filter(({ inspected: { inspection }, support }) =>
    inspection.kind === "platforms" && inspection.depth === "index" && support.architectures.length < all.size
  );
  return [...new Set(worth.map(({ inspected }) => inspected.image))];
}

export function evidenceOf({ pod, settings, plan }: PlannedPod, images: readonly InspectedImage[]): Evidence {
  if (plan.kind === "decided") return plan;
  return { kind: "judged", plan, judgement: judgeImages(pod, settings, plan.images, images) };
}

function outcomeOf({ inspected: { image, inspection }, support }: Judged): ImageOutcome {
  const digest = inspection.kind === "failed" ? "" : inspection.digest;
  switch (support.kind) {
    case "some": {
      const { architectures: own, emulated } = support;
      return { image, digest, architectures: own.length === 0 ? emulated : own, source: "registry" };
    }
    case "anywhere":
      return { image, digest, architectures: [...KNOWN_ARCHITECTURES].sort(), source: "bundle" };
    case "failed":
      return { image, digest, architectures: [], source: "failed" };
    default:
      return assertNever(support);
  }
}

function findingsOf({ image, inspection }: InspectedImage): readonly string[] {
  return inspection.kind === "failed" ? [] : inspection.findings.map(({ message }) => `${image}: ${message}`);
}

function worstFailure(failures: readonly ImageFailure[]): ImageFailure | undefined {
  const permanent = failures.find(({ failure }) => failure.kind === "permanent");
  const [first] = failures;
  if (permanent !== undefined || first === undefined) return permanent;
  const retryAfterMs = failures.reduce((longest, { failure }) => Math.max(longest, failure.retryAfterMs ?? 0), 0);
  return retryAfterMs === 0 ? first : { image: first.image, failure: { ...first.failure, retryAfterMs } };
}

/** An image without an answer by now. */
export function notInspected(
  { image }: Pick<ImageUse, "image">,
  message = "its registry has not answered yet",
): InspectedImage {
  return { image, inspection: { kind: "failed", failure: { kind: "transient", reason: "Timeout", message } } };
}

function firstOfEachImage(outcomes: readonly ImageOutcome[]): readonly ImageOutcome[] {
  const seen = new Set<string>();
  return outcomes.filter(({ image }) => !seen.has(image) && seen.add(image));
}
