// The architectures that each image of a pod supports, by its platforms, the pod's operating system and RuntimeClass.
import { isUsableArchitecture, KNOWN_ARCHITECTURES } from "../../arch.ts";
import { NODE_OS_LABEL } from "../../names.ts";
import type { InspectedImage, Inspection, Platform } from "../../oci/inspection.ts";
import type { RegistryFailure } from "../../oci/errors.ts";
import { isIndexType } from "../../oci/image/manifest.ts";
import type { ImageVolumes, PlacementSettings } from "./config/settings.ts";
import { expressionsOf } from "./pod/constraints.ts";
import type { LowestVariants } from "./decision_types.ts";
import { entryOf, type JsonObject, listAt, memberOf, textAt } from "../../json.ts";
import type { PodView } from "./pod/pod_view.ts";
import { lowestVariants } from "./variants.ts";
import { hasWasm, isWasmRuntime } from "./wasm.ts";

/** The fields of a pod by which its images are judged. */
interface PodImageFacts {
  readonly os: string;
  readonly runtimeClassName: string;
  readonly containerImages: ReadonlySet<string>;
}

export function imageFactsOf(pod: PodView): PodImageFacts {
  const { runtimeClassName, containers } = pod;
  return {
    os: operatingSystemOf(pod),
    runtimeClassName,
    containerImages: new Set(containers.map(({ image }) => image)),
  };
}

/** Judges each image of a pod on its own, with one exception: beside a Wasm image, no native image is emulated. */
export function supportOfEach(
  pod: PodImageFacts,
  settings: PlacementSettings,
  images: readonly InspectedImage[],
): readonly Judged[] {
  const rules = rulesOf(pod, settings, images);
  return images.map((inspected) => ({ inspected, support: judgeImage(inspected, rules) }));
}

export interface Judged {
  readonly inspected: InspectedImage;
  readonly support: ImageSupport;
}

type ImageSupport =
  | {
    readonly kind: "some";
    readonly architectures: readonly string[];
    /** More architectures on which the pod's RuntimeClass runs the image. */
    readonly emulated: readonly string[];
    readonly variants: LowestVariants;
  }
  | { readonly kind: "anywhere" }
  | { readonly kind: "failed"; readonly failure: RegistryFailure };

/** What each image is judged by, from the pod and the settings; computed once for a pod. */
interface ImageRules extends PodImageFacts {
  /** Architectures on which the pod's RuntimeClass runs an image besides the image's own. */
  readonly emulated: readonly string[];
  /** Whether an image of the pod is Wasm. Then the RuntimeClass emulates no native image beside it. */
  readonly hasWasmImage: boolean;
  /** Architectures on which the RuntimeClass runs Wasm, judged by its name; empty if a setting says what it does. */
  readonly wasm: readonly string[];
  readonly imageVolumes: ImageVolumes;
}

function rulesOf(pod: PodImageFacts, settings: PlacementSettings, images: readonly InspectedImage[]): ImageRules {
  const rule = entryOf(settings.runtimeClasses, pod.runtimeClassName);
  return {
    ...pod,
    emulated: rule?.kind === "add" ? rule.architectures : [],
    wasm: rule === undefined && isWasmRuntime(pod.runtimeClassName) ? KNOWN_ARCHITECTURES : [],
    hasWasmImage: images.some(({ inspection }) => inspection.kind === "platforms" && hasWasm(inspection.platforms)),
    imageVolumes: settings.imageVolumes,
  };
}

function judgeImage({ image, inspection }: InspectedImage, rules: ImageRules): ImageSupport {
  const isVolume = !rules.containerImages.has(image);
  if (inspection.kind === "anywhere" || isVolume && isData(inspection, rules.imageVolumes)) return { kind: "anywhere" };
  if (inspection.kind === "failed") return { kind: "failed", failure: inspection.failure };
  const usable = usablePlatforms(inspection.platforms, rules.os);
  const architectures = [...new Set(usable.map((platform) => platform.architecture))].sort();
  // A node pulls an image volume for its own platform, whatever the pod's RuntimeClass emulates.
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
 * Whether an image volume excludes no node. With `auto` only an index may: a node pulls its own platform (KEP-4639).
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

function emulatedOf(platforms: readonly Platform[], { emulated, hasWasmImage, wasm }: ImageRules): readonly string[] {
  if (hasWasm(platforms)) return wasm.length === 0 ? emulated : wasm;
  return hasWasmImage ? [] : emulated;
}

/** The platforms of an image that a pod for this operating system can use. A platform without an OS counts as linux. */
export function usablePlatforms(platforms: readonly Platform[], os: string): readonly Platform[] {
  return platforms.filter((platform) =>
    (platform.os === "" ? "linux" : platform.os) === os && isUsableArchitecture(platform.architecture)
  );
}

/** The pod's operating system, by its nodeSelector, `spec.os` or all its required terms, in this order; else linux. */
export function operatingSystemOf(pod: PodView): string {
  const selected = entryOf(pod.nodeSelector, NODE_OS_LABEL);
  if (selected !== undefined && selected !== "") return selected;
  if (pod.osName !== "") return pod.osName;
  const pinned = (pod.requiredTerms ?? []).map(pinnedOs);
  const [first] = pinned;
  return first !== undefined && pinned.every((os) => os === first) ? first : "linux";
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
