// From the inspections of a pod's images to the architectures they share, or the failure that they come to.
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../../arch.ts";
import { NODE_OS_LABEL } from "../../names.ts";
import type { ImageUse, InspectedImage, Inspection, Platform, RegistryFailure } from "../../oci/types.ts";
import { isIndexType } from "../../oci/image/manifest.ts";
import { assertNever } from "../../parsed.ts";
import type { ImageVolumes, PlacementSettings } from "./config/types.ts";
import { hasSkippedRuntimeClass } from "./ignore.ts";
import { allowedArchitectures, expressionsOf } from "./pod/constraints.ts";
import { withoutArchwaysRequirement } from "./pod/own_terms.ts";
import type { ImageFailure, ImageJudgement, ImageOutcome, LowestVariants } from "./decision_types.ts";
import { entryOf, type JsonObject, listAt, memberOf, textAt } from "../../json.ts";
import type { Evidence, PlannedPod, PodView } from "./types.ts";
import { joinVariants, lowestVariants } from "./variants.ts";
import { hasWasm, isWasmRuntime } from "./wasm.ts";

/**
 * The most images of one pod that are inspected. A pod that names more is released, or falls back, without inspection.
 */
export const MAX_IMAGES = 200;

/**
 * The distinct (image, always) pairs of containers and init containers, and of image volumes unless they are ignored.
 */
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

/** The images of a pod that is decided without them; none with too many, or where its RuntimeClass is skipped. */
export function imagesOfDecided(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const images = hasSkippedRuntimeClass(pod, settings) ? [] : imagesToInspect(pod, settings);
  return images.length > MAX_IMAGES ? [] : images;
}

/** Those by which a pod's own constraint is judged; none without one. */
export function pinnedImages(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const isPinned = allowedArchitectures(withoutArchwaysRequirement(pod), []) !== undefined;
  return isPinned ? imagesOfDecided(pod, settings) : [];
}

/** Any failure fails the whole: the first permanent one, else the first transient one with the longest pause. */
export function judgeImages(
  pod: PodView,
  settings: PlacementSettings,
  wanted: readonly ImageUse[],
  images: readonly InspectedImage[],
): ImageJudgement {
  const inspected = new Set(images.map(({ image }) => image));
  const missing = wanted.filter(({ image }) => !inspected.has(image)).map(notInspected);
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

/** Images that narrow the others, by their index alone. An operator bundle narrows nothing. */
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

/** The operating system a pod is for: `kubernetes.io/os` where the pod pins it, then `spec.os`, else linux. */
export function operatingSystemOf(pod: PodView): string {
  const selected = entryOf(pod.nodeSelector, NODE_OS_LABEL);
  if (selected !== undefined && selected !== "") return selected;
  if (pod.osName !== "") return pod.osName;
  const pinned = (pod.requiredTerms ?? []).map(pinnedOs);
  const [first] = pinned;
  return first !== undefined && pinned.every((os) => os === first) ? first : "linux";
}

/**
 * The pod with only the fields by which its images are judged: a large one is not kept in memory during inspections.
 */
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

/**
 * The platforms of an image that a pod for this operating system can use. A platform without one is taken for linux.
 */
export function usablePlatforms(platforms: readonly Platform[], os: string): readonly Platform[] {
  return platforms.filter((platform) =>
    (platform.os === "" ? "linux" : platform.os) === os && isUsableArchitecture(platform.architecture)
  );
}

/** The fields of a pod by which its images are judged. */
interface PodImageFacts {
  readonly os: string;
  readonly runtimeClassName: string;
  readonly containerImages: ReadonlySet<string>;
}

function imageFactsOf(pod: PodView): PodImageFacts {
  const { runtimeClassName, containers } = pod;
  return {
    os: operatingSystemOf(pod),
    runtimeClassName,
    containerImages: new Set(containers.map(({ image }) => image)),
  };
}

/** Judges each image of a pod on its own. The others count only for Wasm. */
export function supportOfEach(
  pod: PodImageFacts,
  settings: PlacementSettings,
  images: readonly InspectedImage[],
): readonly Judged[] {
  const rules = rulesOf(pod, settings, images);
  return images.map((inspected) => ({ inspected, support: judgeImage(inspected, rules) }));
}

interface Judged {
  readonly inspected: InspectedImage;
  readonly support: ImageSupport;
}

type ImageSupport =
  | {
    readonly kind: "some";
    readonly architectures: readonly string[];
    /** More architectures on which the pod's RuntimeClass runs it. */
    readonly emulated: readonly string[];
    readonly variants: LowestVariants;
  }
  | { readonly kind: "anywhere" }
  | { readonly kind: "failed"; readonly failure: RegistryFailure };

/** What each image is judged by, from the pod and the settings; computed once for a pod. */
interface ImageRules extends PodImageFacts {
  /** Architectures on which the pod's RuntimeClass runs an image besides the image's own. */
  readonly emulated: readonly string[];
  /** Whether the RuntimeClass is for Wasm alone: then a native image beside it constrains the pod. */
  readonly isForWasm: boolean;
  /** Where the RuntimeClass runs Wasm, by its name alone: no setting says what it does. */
  readonly wasm: readonly string[];
  readonly imageVolumes: ImageVolumes;
}

function rulesOf(pod: PodImageFacts, settings: PlacementSettings, images: readonly InspectedImage[]): ImageRules {
  const rule = entryOf(settings.runtimeClasses, pod.runtimeClassName);
  return {
    ...pod,
    emulated: rule?.kind === "add" ? rule.architectures : [],
    wasm: rule === undefined && isWasmRuntime(pod.runtimeClassName) ? KNOWN_ARCHITECTURES : [],
    isForWasm: images.some(({ inspection }) => inspection.kind === "platforms" && hasWasm(inspection.platforms)),
    imageVolumes: settings.imageVolumes,
  };
}

function judgeImage({ image, inspection }: InspectedImage, rules: ImageRules): ImageSupport {
  const isVolume = !rules.containerImages.has(image);
  if (inspection.kind === "anywhere" || isVolume && isData(inspection, rules.imageVolumes)) return { kind: "anywhere" };
  if (inspection.kind === "failed") return { kind: "failed", failure: inspection.failure };
  const usable = usablePlatforms(inspection.platforms, rules.os);
  const architectures = [...new Set(usable.map((platform) => platform.architecture))].sort();
  // What is mounted is pulled for the node, whatever runs beside it.
  const emulated = isVolume ? [] : emulatedOf(inspection.platforms, rules);
  if (architectures.length > 0 || emulated.length > 0) {
    return { kind: "some", architectures, emulated, variants: lowestVariants(usable) };
  }
  const offered = [...new Set(inspection.platforms.map((platform) => `${platform.os}/${platform.architecture}`))];
  const message = `it has no platform for ${rules.os} (it offers ${offered.slice(0, 8).join(", ") || "none"})` +
    (hasWasm(inspection.platforms) ? "; name a RuntimeClass that runs Wasm, in runtimeClasses if need be" : "");
  return { kind: "failed", failure: { kind: "permanent", reason: "NotAnImage", message } };
}

/**
 * Whether an image volume narrows nothing. With `auto` only an index narrows: a node pulls its own platform (KEP-4639).
 */
function isData(inspection: Inspection, imageVolumes: ImageVolumes): boolean {
  if (inspection.kind === "failed") return inspection.failure.reason === "NotAnImage";
  return imageVolumes === "auto" && !isIndexType(inspection.mediaType);
}

/** More architectures on which the pod's RuntimeClass runs an image of these platforms. `images`: all of the pod. */
export function emulatedFor(
  pod: PodView,
  settings: PlacementSettings,
  { platforms, images }: { readonly platforms: readonly Platform[]; readonly images: readonly InspectedImage[] },
): readonly string[] {
  return emulatedOf(platforms, rulesOf(imageFactsOf(pod), settings, images));
}

function emulatedOf(platforms: readonly Platform[], { emulated, isForWasm, wasm }: ImageRules): readonly string[] {
  if (hasWasm(platforms)) return wasm.length === 0 ? emulated : wasm;
  return isForWasm ? [] : emulated;
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

export function notInspected({ image }: Pick<ImageUse, "image">): InspectedImage {
  const failure: RegistryFailure = {
    kind: "transient",
    reason: "Timeout",
    message: "its registry has not answered yet",
  };
  return { image, inspection: { kind: "failed", failure } };
}

function firstOfEachImage(outcomes: readonly ImageOutcome[]): readonly ImageOutcome[] {
  const seen = new Set<string>();
  return outcomes.filter(({ image }) => !seen.has(image) && seen.add(image));
}

function pinnedOs(term: JsonObject): string | undefined {
  for (const expression of expressionsOf(term)) {
    const values = listAt(expression, "values") ?? [];
    const pins = textAt(expression, "key") === NODE_OS_LABEL && memberOf(expression, "operator") === "In";
    const [value] = values;
    if (pins && values.length === 1 && typeof value === "string") return value;
  }
  return undefined;
}
