// Plans the index that joins images: one per platform, in a fixed order, always the same bytes.
import { createHash } from "node:crypto";
import { MANIFEST_MEDIA_TYPES } from "../../oci/image/manifest.ts";
import { renderPlatform } from "../../oci/image/platforms.ts";
import type { ChildImage, ChildProblem, ImageForm, ImagePlatform } from "./child.ts";

export interface IndexDocument {
  readonly form: ImageForm;
  readonly mediaType: string;
  readonly text: string;
  readonly digest: string;
}

export type IndexPlan =
  | {
    readonly kind: "plan";
    readonly children: readonly ChildImage[];
    /** The form to push, then the alternatives if the registry refuses its media type. */
    readonly forms: readonly [IndexDocument, ...IndexDocument[]];
  }
  | { readonly kind: "refused"; readonly problems: readonly (ChildProblem & { readonly image: string })[] };

const [OCI_INDEX, DOCKER_LIST] = MANIFEST_MEDIA_TYPES;
const MEDIA_TYPE: Readonly<Record<ImageForm, string>> = { oci: OCI_INDEX, docker: DOCKER_LIST };

/** What container runtimes assume for a missing variant: with or without it, the platform is the same. */
const DEFAULT_VARIANT: Readonly<Record<string, string>> = { arm64: "v8", arm: "v7", amd64: "v1" };

export type Annotations = Readonly<Record<string, string>>;

export function planIndex(children: readonly ChildImage[], annotations: Annotations = {}): IndexPlan {
  const problems = [...Map.groupBy(children, ({ platform }) => platformKey(platform)).values()].flatMap(judgeEqual);
  if (problems.length > 0) return { kind: "refused", problems };
  const sorted = children.toSorted(compareChildren);
  const [first, ...others] = formsFor(sorted, annotations);
  return {
    kind: "plan",
    children: sorted,
    forms: [renderIndex(first, sorted, annotations), ...others.map((form) => renderIndex(form, sorted, annotations))],
  };
}

/** A Docker list holds only Docker images and no annotations; an OCI index holds all. */
function formsFor(
  children: readonly ChildImage[],
  annotations: Annotations,
): readonly [ImageForm, ...ImageForm[]] {
  return Object.keys(annotations).length === 0 && children.every(({ form }) => form === "docker")
    ? ["docker", "oci"]
    : ["oci"];
}

/** The index as bytes: members in the order of the OCI image specification, without white space or times. */
function renderIndex(form: ImageForm, sorted: readonly ChildImage[], annotations: Annotations): IndexDocument {
  const mediaType = MEDIA_TYPE[form];
  const manifests = sorted.map(({ mediaType, digest, size, platform }) => ({
    mediaType,
    digest,
    size,
    platform: renderPlatformOf(platform),
  }));
  const own = Object.entries(annotations).toSorted(([left], [right]) => compareTexts(left, right));
  const said = own.length === 0 ? {} : { annotations: Object.fromEntries(own) };
  const text = JSON.stringify({ schemaVersion: 2, mediaType, manifests, ...said });
  return { form, mediaType, text, digest: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}

function renderPlatformOf({ architecture, os, osVersion, osFeatures, variant }: ImagePlatform): unknown {
  return { architecture, os, "os.version": osVersion, "os.features": osFeatures, variant };
}

function judgeEqual(equal: readonly ChildImage[]): readonly (ChildProblem & { readonly image: string })[] {
  const [first, ...others] = equal.toSorted((left, right) => compareTexts(left.image, right.image));
  return others.map(({ image, platform }) => ({
    kind: "problem",
    reason: "DuplicatePlatform",
    state: `it is for ${renderPlatform(platform)}, and so is "${first?.image ?? ""}". Leave one of them out`,
    image,
  }));
}

export function platformKey({ os, architecture, variant, osVersion, osFeatures }: ImagePlatform): string {
  const meant = variant ?? DEFAULT_VARIANT[architecture] ?? "";
  return JSON.stringify([os, architecture, meant, osVersion ?? "", osFeatures ?? []]);
}

function compareChildren(left: ChildImage, right: ChildImage): number {
  const [leftKeys, rightKeys] = [orderOf(left), orderOf(right)];
  const at = leftKeys.findIndex((key, index) => key !== rightKeys[index]);
  return at < 0 ? 0 : compareTexts(leftKeys[at] ?? "", rightKeys[at] ?? "");
}

function orderOf({ platform, digest }: ChildImage): readonly string[] {
  const { architecture, variant = "", os, osVersion = "", osFeatures = [] } = platform;
  return [architecture, variant, os, osVersion, osFeatures.join(","), digest];
}

/** By code units, independent of the machine's locale. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
