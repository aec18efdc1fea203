// Image references as users write them: Docker's normalisation, with the distribution project's grammar.
import { asParsed, type Parsed, type Unparsable, unparsable } from "../parsed.ts";
import { canonicalHost, DOCKER_HUB, DOCKER_HUB_HOST, hostKey } from "./host_names.ts";

/** A text cut into its parts, none of which is checked. */
interface ImageText {
  /** As written, without tag and digest. */
  readonly name: string;
  /** Beside a digest, the tag is only for people: the digest decides. */
  readonly tag: string | undefined;
  /** `algorithm:hex`. */
  readonly digest: string | undefined;
}

/** A reference taken apart. */
export interface ImageReference extends ImageText {
  /** The host in its canonical spelling (lower case, without the port of https), or `docker.io`. */
  readonly domain: string;
  /** The host to contact. */
  readonly host: string;
  /** Path without domain, `library/` included: `library/nginx`. */
  readonly repository: string;
  readonly identifier: string;
  /** Whether the text has no domain, so that it is subject to short-name resolution. */
  readonly isShort: boolean;
}

const DOMAIN = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?)(?::\d{1,5})?$/;
export const PATH = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]{0,31}(?:[-_+.][A-Za-z][A-Za-z0-9]{0,31}){0,3}:[0-9A-Za-z]{3,128}$/;
/** The form of digests in registries and their documents. Digests in references of users may have other forms. */
export const CONTENT_DIGEST = /^[a-z0-9]+:[0-9a-f]{32,128}$/;
/** Algorithms of digests that can be verified. */
export const HASHES: readonly string[] = ["sha256", "sha384", "sha512"];
export const SHA256_DIGEST = /^sha256:([a-f0-9]{64})$/;
const MAX_NAME_LENGTH = 255;
/** More than a name with a tag and a digest can have; Kubernetes takes any text. */
const MAX_REFERENCE_LENGTH = 1_000;

/**
 * Drops the tag beside a digest. Refuses a text that has no single meaning. The messages are the MTO's (rows RF-01…43).
 */
export function normaliseImageReference(image: string): { readonly text: string } | { readonly problem: string } {
  if (image === "") return { problem: "invalid image name, must not be empty" };
  const at = image.indexOf("@sha");
  if (at < 0) return { text: image };
  if (at === 0) return { problem: "invalid image name, image must not be empty" };
  if (image.indexOf("@sha", at + 1) >= 0) return { problem: "invalid image name, must only have one digest" };
  const { name, digest } = cutReference(image);
  return { text: `${name}@${digest}` };
}

export function parseReference(image: string): Parsed<ImageReference> {
  if (image.length > MAX_REFERENCE_LENGTH) {
    return unparsable(`Cannot read an image reference of ${image.length} characters: none has more than 1 000.`);
  }
  const normalised = normaliseImageReference(image);
  if ("problem" in normalised) return unparsable(normalised.problem);
  const { name, tag, digest } = cutReference(image);
  if (digest?.includes("@") === true) return invalid(image, "it has more than one @");
  if (digest !== undefined && !DIGEST.test(digest)) return invalid(image, "its digest is not algorithm:hex");
  if (tag !== undefined && !TAG.test(tag)) return invalid(image, "its tag has characters a tag cannot have");
  const { domain, rest } = splitDomain(name);
  if (domain !== undefined && !isHost(domain)) return invalid(image, "its registry is not a host name");
  const host = canonicalHost(domain ?? DOCKER_HUB);
  const isHub = hostKey(host) === DOCKER_HUB;
  const repository = isHub && !rest.includes("/") ? `library/${rest}` : rest;
  if (!PATH.test(repository)) return invalid(image, "its repository is not lower-case words separated by /");
  if (host.length + repository.length > MAX_NAME_LENGTH) return invalid(image, "it is longer than 255 characters");
  return asParsed({
    domain: isHub ? DOCKER_HUB : host,
    host: isHub ? DOCKER_HUB_HOST : host,
    repository,
    identifier: digest ?? tag ?? "latest",
    isShort: domain === undefined,
    name,
    tag,
    digest,
  });
}

/** `host/repository:tag` or `host/repository@digest`: one spelling for each image. */
export function renderReference(
  { host, repository, ...place }: Pick<ImageReference, "host" | "repository" | "identifier">,
  identifier: string = place.identifier,
): string {
  return `${host}/${repository}${isDigest(identifier) ? "@" : ":"}${identifier}`;
}

/** Whether an identifier is a digest (and not a tag): tags have no colon. */
export function isDigest(identifier: string): boolean {
  return identifier.includes(":");
}

/** A colon after the last slash begins a tag; one before it begins a port. */
export function cutReference(image: string): ImageText {
  const at = image.indexOf("@");
  const [tagged, digest] = at < 0 ? [image, undefined] : [image.slice(0, at), image.slice(at + 1)];
  const colon = tagged.lastIndexOf(":");
  if (colon <= tagged.lastIndexOf("/")) return { name: tagged, tag: undefined, digest };
  return { name: tagged.slice(0, colon), tag: tagged.slice(colon + 1), digest };
}

/** Empty for a text without a digest. */
export function digestOf(image: string | undefined): string {
  return cutReference(image ?? "").digest ?? "";
}

/** The first component is a registry when it has a dot or a port, is `localhost`, or is not lower-case. */
export function splitDomain(path: string): { readonly domain?: string; readonly rest: string } {
  const slash = path.indexOf("/");
  const first = path.slice(0, Math.max(0, slash));
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  return isDomain ? { domain: first, rest: path.slice(slash + 1) } : { rest: path };
}

/** Whether a URL can have this host and keeps its spelling: `0x7f.1` and `127.1` are other spellings of an address. */
function isHost(domain: string): boolean {
  const hostname = DOMAIN.test(domain) ? URL.parse(`https://${domain}`)?.hostname : undefined;
  if (hostname === undefined) return false;
  return hostname.startsWith("[") || hostname === domain.replace(/:\d+$/, "").toLowerCase();
}

/** Some users write a web address as an image. The message does not repeat what may be its user or query. */
function invalid(image: string, problem: string): Unparsable {
  const shown = image.replace(/^([a-z]+:\/\/)?[^@/]*@(?=[^@/]*\/)/i, "$1…@").replace(/\?.*/s, "?…").slice(0, 300);
  return unparsable(`Cannot read image reference "${shown}": ${problem}.`);
}
