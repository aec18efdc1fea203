// Parses indexes, manifests, schema 1 and configs. Hostile input never causes a crash.
import { isObject, type JsonObject, listAt, numberAt, objectAt, parseBoundedObject, textAt } from "../../json.ts";
import { type Unparsable, unparsable } from "../../parsed.ts";
import type { Platform } from "../inspection.ts";
import { CONTENT_DIGEST } from "../reference.ts";

/** Media types that a manifest request accepts, the cheapest answer (an index) first. */
export const MANIFEST_MEDIA_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.v1+prettyjws",
  "application/vnd.docker.distribution.manifest.v1+json",
] as const;

const [OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST, SCHEMA1_SIGNED, SCHEMA1] = MANIFEST_MEDIA_TYPES;
const CONFIG_TYPES = ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"];

export interface Descriptor {
  readonly mediaType: string;
  /** `algorithm:hex`, checked for its form. */
  readonly digest: string;
  /** Bytes, by the descriptor; 0 when absent. */
  readonly size: number;
  readonly platform?: Platform | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** Whether the index marks it as an artifact, not an image. */
  readonly isArtifact: boolean;
}

export type ManifestDocument =
  | { readonly kind: "index"; readonly mediaType: string; readonly entries: readonly Descriptor[] }
  | { readonly kind: "manifest"; readonly mediaType: string; readonly config: Descriptor; readonly isImage: boolean }
  | { readonly kind: "schema1"; readonly mediaType: string; readonly platform: Platform; readonly labels: ImageLabels }
  | Unparsable;

export type ImageLabels = JsonObject;

export type ConfigDocument =
  | {
    readonly kind: "config";
    readonly platform: Platform;
    readonly labels: ImageLabels;
    /** Empty where the config names none. */
    readonly osVersion: string;
    readonly osFeatures: readonly string[];
  }
  | Unparsable;

/** Most entries of an index and its nested indexes; no real image has as many. */
export const MAX_ENTRIES = 1_000;
/** Platform names are used in node affinities: one that is not a valid label value matches no node. */
const LABEL_VALUE = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Parses a manifest body by its own `mediaType`, else its shape, else the header. */
export function parseManifest(body: string, contentType: string): ManifestDocument {
  const document = parseBoundedObject(body);
  if (document === undefined) return unparsable("it is not a JSON object of at most 40 000 members");
  const mediaType = textAt(document, "mediaType") || mediaTypeOfShape(document, contentType);
  if (isIndexType(mediaType)) return parseIndex(document, mediaType);
  if (mediaType === OCI_MANIFEST || mediaType === DOCKER_MANIFEST) return parseSingle(document, mediaType);
  if (mediaType === SCHEMA1 || mediaType === SCHEMA1_SIGNED) return parseSchema1(document, mediaType);
  return unparsable(`its media type is ${renderMediaType(mediaType)}`);
}

export function isIndexType(mediaType: string): boolean {
  return mediaType === OCI_INDEX || mediaType === DOCKER_LIST;
}

/** A media type for a message; `unknown` when malformed. */
export function renderMediaType(mediaType: string): string {
  return /^[a-z]{1,20}\/[\w.+-]{1,100}$/i.test(mediaType) ? `"${mediaType}"` : "unknown";
}

export function parseImageConfig(body: string): ConfigDocument {
  const document = parseBoundedObject(body);
  if (document === undefined) return unparsable("its config is not a JSON object of at most 40 000 members");
  const platform = parsePlatform(document);
  if (platform === undefined || platform.architecture === "unknown") {
    return unparsable("its config names no architecture");
  }
  const features = (listAt(document, "os.features") ?? []).filter((name) => typeof name === "string");
  return {
    kind: "config",
    platform,
    labels: objectAt(objectAt(document, "config") ?? {}, "Labels") ?? {},
    osVersion: stringAt(document, "os.version"),
    osFeatures: features.toSorted(),
  };
}

function mediaTypeOfShape(document: JsonObject, contentType: string): string {
  if (Array.isArray(document.manifests)) return OCI_INDEX;
  if (objectAt(document, "config") !== undefined) return OCI_MANIFEST;
  if (document.schemaVersion === 1) return SCHEMA1;
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}

function parseIndex(document: JsonObject, mediaType: string): ManifestDocument {
  const { manifests } = document;
  if (!Array.isArray(manifests)) return unparsable("its index has no manifests");
  if (manifests.length > MAX_ENTRIES) return unparsable(`its index has more than ${MAX_ENTRIES} manifests`);
  const foreign = ["config", "layers", "fsLayers", "history"].find((key) => Object.hasOwn(document, key));
  if (foreign !== undefined) return unparsable(`it is ambiguous: an index with "${foreign}"`);
  const entries = manifests.flatMap((entry: unknown) => isObject(entry) ? parseDescriptor(entry) ?? [] : []);
  return { kind: "index", mediaType, entries };
}

function parseSingle(document: JsonObject, mediaType: string): ManifestDocument {
  if (Object.hasOwn(document, "manifests")) return unparsable('it is ambiguous: a manifest with "manifests"');
  const config = parseDescriptor(objectAt(document, "config") ?? {});
  if (config === undefined) return unparsable("its manifest has no config");
  // Docker's own manifests may leave the config's type generic; an OCI manifest without image config is an artifact.
  const isImage = mediaType === DOCKER_MANIFEST || CONFIG_TYPES.includes(config.mediaType);
  return { kind: "manifest", mediaType, config, isImage };
}

/** Schema 1 keeps each layer's config as JSON text; the first is the newest and describes the image. */
function parseSchema1(document: JsonObject, mediaType: string): ManifestDocument {
  const [newest] = Array.isArray(document.history) ? document.history : [];
  const config = parseBoundedObject(isObject(newest) ? textAt(newest, "v1Compatibility") : "") ?? {};
  const architecture = stringAt(config, "architecture") || stringAt(document, "architecture");
  if (architecture === "" || architecture === "unknown") {
    return unparsable("its schema 1 manifest names no architecture");
  }
  const platform = { os: stringAt(config, "os") || "linux", architecture };
  return { kind: "schema1", mediaType, platform, labels: objectAt(objectAt(config, "config") ?? {}, "Labels") ?? {} };
}

function parseDescriptor(document: JsonObject): Descriptor | undefined {
  const digest = textAt(document, "digest");
  if (!CONTENT_DIGEST.test(digest)) return undefined;
  const named = objectAt(document, "platform") ?? {};
  const platform = parsePlatform(named);
  // The entry names a platform that no node can have. An entry without a platform is kept.
  if (platform === undefined && textAt(named, "architecture") !== "") return undefined;
  return {
    mediaType: textAt(document, "mediaType"),
    digest,
    size: numberAt(document, "size"),
    annotations: objectAt(document, "annotations") ?? {},
    isArtifact: textAt(document, "artifactType") !== "",
    platform,
  };
}

function parsePlatform(document: JsonObject): Platform | undefined {
  const architecture = stringAt(document, "architecture");
  const isForeign = textAt(document, "os") !== "" && stringAt(document, "os") === "";
  if (architecture === "" || isForeign) return undefined;
  const variant = stringAt(document, "variant");
  return {
    os: stringAt(document, "os"),
    architecture,
    ...(variant === "" ? {} : { variant }),
  };
}

/** A part of a platform's name; empty when absent, or when no node can have it. */
function stringAt(document: JsonObject, key: string): string {
  const name = textAt(document, key);
  return LABEL_VALUE.test(name) ? name : "";
}
