// From the inspections of a pod's images to the architectures they share: which images count, which of their platforms
// the pod can use, and what it means that one failed. Source: §2.7 steps 2–3, §3.2, D18, D19.
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../arch.ts";
import { NODE_OS_LABEL } from "../names.ts";
import type { ImageUse, InspectedImage, InspectionFailure, Platform } from "../oci/types.ts";
import { unreachable } from "../unreachable.ts";
import type { PlacementSettings, RawObject } from "./config_types.ts";
import { expressionsOf } from "./patch/constraints.ts";
import type { ImageFailure, ImageOutcome } from "./decision_types.ts";
import { entryOf, listAt, memberOf, textAt } from "./raw.ts";
import type { PodView } from "./types.ts";
import { joinLevels, type Levels, levelsOf } from "./variants.ts";

/** The distinct (image, always) pairs of containers and init containers, and of image volumes where they count. */
export function imagesToInspect(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const wanted: ImageUse[] = [];
  const seen = { plain: new Set<string>(), always: new Set<string>() };
  const volumes = settings.imageVolumes === "require" ? pod.imageVolumes : [];
  for (const { image, pullPolicy } of volumes.length === 0 ? pod.containers : [...pod.containers, ...volumes]) {
    const always = pullPolicy === "Always";
    const same = always ? seen.always : seen.plain;
    if (image === "" || same.has(image)) continue;
    same.add(image);
    wanted.push({ image, always, pullPolicy });
  }
  return wanted;
}

/** What the images of a pod come to. */
export type ImageJudgement =
  | {
    readonly kind: "shared";
    /** Sorted; empty when the images share none. */
    readonly architectures: readonly string[];
    /** The instruction set level that the images need per architecture. */
    readonly levels: Levels;
    /** What the inspections found worth telling, each with its image. */
    readonly findings: readonly string[];
    readonly outcomes: readonly ImageOutcome[];
  }
  | { readonly kind: "failed"; readonly failed: ImageFailure; readonly outcomes: readonly ImageOutcome[] };

/** What {@link judgeImages} looks at. */
export interface ImagesOfPod {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly images: readonly InspectedImage[];
}

/**
 * Intersects the images. Any failure makes the whole a failure: the first permanent one, else the first transient one
 * with the longest wait that any registry asked for. An image nobody inspected is a transient failure.
 */
export function judgeImages(facts: ImagesOfPod): ImageJudgement {
  const inspected = new Set(facts.images.map(({ image }) => image));
  const missing = imagesToInspect(facts.pod, facts.settings)
    .filter(({ image }) => !inspected.has(image)).map(notInspected);
  const rules = rulesOf(facts);
  const outcomes = [...facts.images, ...missing].map((one) => ({ one, judged: judgeImage(one, rules) }));
  const failures = outcomes.flatMap(({ one, judged }) =>
    judged.kind === "failed" ? [{ image: one.image, failure: judged.failure }] : []
  );
  const shown = firstOfEachImage(outcomes.map(({ one, judged }) => outcomeOf(one, judged)));
  const failed = worstFailure(failures);
  if (failed !== undefined) return { kind: "failed", failed, outcomes: shown };
  const sets = outcomes.flatMap(({ judged }) => judged.kind === "some" ? [judged.architectures] : []);
  const shared = sets.length === 0 ? [...KNOWN_ARCHITECTURES].sort() : intersectArchitectures(sets);
  const architectures = rules.emulated.length === 0 ? shared : [...new Set([...shared, ...rules.emulated])].sort();
  const levels = joinLevels(outcomes.flatMap(({ judged }) => judged.kind === "some" ? [judged.levels] : []));
  const findings = [...new Set(facts.images.flatMap(findingsOf))];
  return { kind: "shared", architectures, levels, findings, outcomes: shown };
}

/**
 * The images whose config is worth reading before their sets are believed: those inspected by their index alone that
 * exclude an architecture which another image has. One of them may be an operator bundle, which narrows nothing (PR-11).
 */
export function imagesWorthConfigRead(facts: ImagesOfPod): readonly string[] {
  const rules = rulesOf(facts);
  const sets = facts.images.flatMap((one) => {
    const judged = judgeImage(one, rules);
    return judged.kind === "some" ? [{ one, count: judged.architectures.length, names: judged.architectures }] : [];
  });
  const all = new Set(sets.flatMap(({ names }) => names));
  const worth = sets.filter(({ one: { inspection }, count }) =>
    inspection.kind === "platforms" && inspection.depth === "index" && count < all.size
  );
  return [...new Set(worth.map(({ one }) => one.image))];
}

/** The operating system a pod is for: `kubernetes.io/os` where the pod pins it, then `spec.os`, else linux (D18). */
export function operatingSystemOf(pod: PodView): string {
  const selected = entryOf(pod.nodeSelector, NODE_OS_LABEL);
  if (selected !== undefined && selected !== "") return selected;
  if (pod.osName !== "") return pod.osName;
  const pinned = (pod.requiredTerms ?? []).map(pinnedOs);
  const [first] = pinned;
  return first !== undefined && pinned.every((os) => os === first) ? first : "linux";
}

/** The platforms of an image that a pod for this operating system can use. A platform without one is taken for linux. */
export function usablePlatforms(platforms: readonly Platform[], os: string): readonly Platform[] {
  return platforms.filter((platform) =>
    (platform.os === "" ? "linux" : platform.os) === os && isUsableArchitecture(platform.architecture)
  );
}

type JudgedImage =
  | { readonly kind: "some"; readonly architectures: readonly string[]; readonly levels: Levels }
  | { readonly kind: "anywhere" }
  | { readonly kind: "failed"; readonly failure: InspectionFailure };

/** What of the pod and the settings decides about each of its images; made once for a pod. */
interface ImageRules {
  readonly os: string;
  /** Architectures that the pod's RuntimeClass emulates: where it has some, no image excludes the pod altogether. */
  readonly emulated: readonly string[];
  readonly containerImages: ReadonlySet<string>;
}

function rulesOf({ pod, settings }: ImagesOfPod): ImageRules {
  const rule = entryOf(settings.runtimeClasses, pod.runtimeClassName);
  return {
    os: operatingSystemOf(pod),
    emulated: rule?.kind === "add" ? rule.architectures : [],
    containerImages: new Set(pod.containers.map(({ image }) => image)),
  };
}

function judgeImage({ image, inspection }: InspectedImage, rules: ImageRules): JudgedImage {
  if (inspection.kind === "anywhere") return { kind: "anywhere" };
  if (inspection.kind === "failed") {
    // An image volume may hold plain data, which is no image of any architecture.
    const isData = inspection.failure.reason === "NotAnImage" && !rules.containerImages.has(image);
    return isData ? { kind: "anywhere" } : { kind: "failed", failure: inspection.failure };
  }
  const usable = usablePlatforms(inspection.platforms, rules.os);
  const architectures = [...new Set(usable.map((platform) => platform.architecture))].sort();
  if (architectures.length > 0 || rules.emulated.length > 0) {
    return { kind: "some", architectures, levels: levelsOf(usable) };
  }
  const offered = [...new Set(inspection.platforms.map((platform) => `${platform.os}/${platform.architecture}`))];
  const message = `it has no platform for ${rules.os} (it offers ${offered.slice(0, 8).join(", ") || "none"})`;
  return { kind: "failed", failure: { kind: "permanent", reason: "NotAnImage", message } };
}

function outcomeOf({ image, inspection, source }: InspectedImage, judged: JudgedImage): ImageOutcome {
  const digest = inspection.kind === "failed" ? "" : inspection.digest;
  switch (judged.kind) {
    case "some":
      return { image, digest, architectures: judged.architectures, source: source ?? "registry" };
    case "anywhere":
      return { image, digest, architectures: [...KNOWN_ARCHITECTURES].sort(), source: "bundle" };
    case "failed":
      return { image, digest, architectures: [], source: "failed" };
    default:
      return unreachable(judged);
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

function notInspected({ image, pullPolicy }: ImageUse): InspectedImage {
  const failure: InspectionFailure = {
    kind: "transient",
    reason: "Timeout",
    message: "its registry has not answered yet",
  };
  return { image, pullPolicy, inspection: { kind: "failed", failure } };
}

function firstOfEachImage(outcomes: readonly ImageOutcome[]): readonly ImageOutcome[] {
  const seen = new Set<string>();
  return outcomes.filter(({ image }) => !seen.has(image) && seen.add(image));
}

function pinnedOs(term: RawObject): string | undefined {
  for (const expression of expressionsOf(term)) {
    const values = listAt(expression, "values") ?? [];
    const pins = textAt(expression, "key") === NODE_OS_LABEL && memberOf(expression, "operator") === "In";
    const [value] = values;
    if (pins && values.length === 1 && typeof value === "string") return value;
  }
  return undefined;
}
