// The playground's image registry: the OCI distribution API in memory, on loopback, with request counts. This is its
// pull half.
import type { KeyPair } from "../lib/server/https_listener.ts";
import type { RequestCounts } from "../lib/oci/request_log.ts";
import { type Handler, listen } from "./listen.ts";
import {
  addImage,
  API_VERSION,
  BASIC_CHALLENGE,
  basicOf,
  CONTENT_PATH,
  refuse,
  type RegistryUser,
  type Repository,
  splitReference,
} from "./registry_content.ts";
import { buildImage, type ImageDescription } from "./registry_images.ts";
import { answerWrite } from "./registry_writes.ts";

export interface RegistryOptions {
  readonly images: readonly ImageDescription[];
  /** The one user who may push, and pull from `basic` and `token` repositories. */
  readonly user: RegistryUser;
  readonly certificate?: KeyPair;
  /** A fault to answer with instead: 500s, 429s, garbage. Undefined lets the request pass. */
  readonly intercept?: (request: Request) => Response | Promise<Response> | undefined;
}

export interface Registry extends AsyncDisposable {
  readonly host: string;
  readonly origin: string;
  /** Requests since the start, by kind. Refused ones count too. */
  counts(): RequestCounts;
  /**
   * Architectures of a served image (`repository:tag` or `repository@digest`); undefined when there is no such image.
   */
  architecturesOf(reference: string): readonly string[] | undefined;
  digestOf(repository: string, tag: string): string | undefined;
  /** Text of the manifest or index at `repository:tag` or `repository@digest`; undefined when there is none. */
  manifestOf(reference: string): string | undefined;
  /** Adds an image without a request; gives the digest that its tag points at then. */
  push(image: ImageDescription): Promise<string>;
}

export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const repositories = new Map<string, Repository>();
  for (const image of options.images) addImage(repositories, image, await buildImage(image));
  const counts = { manifestGet: 0, manifestHead: 0, blobGet: 0, token: 0, other: 0 };
  const uploads = new Map<string, Uint8Array<ArrayBuffer>>();
  const { user } = options;
  let origin = "";
  const handler: Handler = async (request) => {
    counts[kindOf(request)] += 1;
    return await options.intercept?.(request) ?? await answerWrite(request, { repositories, uploads, user }) ??
      answer(repositories, request, { origin, user });
  };
  const listener = await listen(handler, { certificate: options.certificate });
  origin = listener.origin;
  return {
    host: listener.host,
    origin,
    counts: () => ({ ...counts }),
    ...viewsOf(repositories),
    push: async (image) => {
      const built = await buildImage(image);
      addImage(repositories, image, built);
      return built.top.digest;
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

function viewsOf(
  repositories: ReadonlyMap<string, Repository>,
): Pick<Registry, "architecturesOf" | "digestOf" | "manifestOf"> {
  return {
    architecturesOf: (reference) => {
      const [repository, identifier] = splitReference(reference);
      return repositories.get(repository)?.architectures.get(identifier);
    },
    digestOf: (repository, tag) => repositories.get(repository)?.manifests.get(tag)?.digest,
    manifestOf: (reference) => {
      const [repository, identifier] = splitReference(reference);
      const found = repositories.get(repository)?.manifests.get(identifier);
      return found === undefined ? undefined : new TextDecoder().decode(found.bytes);
    },
  };
}

function kindOf(request: Request): keyof RequestCounts {
  const { pathname } = new URL(request.url);
  if (pathname === "/token") return "token";
  const content = CONTENT_PATH.exec(pathname)?.[2];
  if (content === "blobs" && request.method === "GET") return "blobGet";
  if (content !== "manifests") return "other";
  return request.method === "HEAD" ? "manifestHead" : request.method === "GET" ? "manifestGet" : "other";
}

interface Login {
  readonly origin: string;
  readonly user: RegistryOptions["user"];
}

function answer(repositories: ReadonlyMap<string, Repository>, request: Request, login: Login): Response {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/v2/" || pathname === "/v2") return Response.json({}, { headers: API_VERSION });
  if (pathname === "/token") return issueToken(request, searchParams, login);
  const [, name = "", kind, reference = ""] = CONTENT_PATH.exec(pathname) ?? [];
  if (kind === undefined) return refuse(404, "UNSUPPORTED");
  const repository = repositories.get(name);
  if (repository === undefined) return refuse(404, "NAME_UNKNOWN");
  if (!mayPull(request, name, { ...login, access: repository.access })) return challenge(name, repository, login);
  const content = (kind === "blobs" ? repository.blobs : repository.manifests).get(decodeURIComponent(reference));
  if (content === undefined) return refuse(404, kind === "blobs" ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN");
  const headers = {
    ...API_VERSION,
    "content-type": kind === "blobs" ? "application/octet-stream" : content.mediaType,
    "content-length": String(content.bytes.length),
    "docker-content-digest": content.digest,
    etag: `"${content.digest}"`,
  };
  return new Response(request.method === "HEAD" ? null : content.bytes, { headers });
}

/** A token that anybody can guess: this registry has nothing to protect. */
function tokenFor(repository: string, user: RegistryOptions["user"]): string {
  return btoa(`pull ${repository} ${user.name}`).replaceAll("=", "");
}

function mayPull(
  request: Request,
  repository: string,
  options: Login & { readonly access: Repository["access"] },
): boolean {
  const given = request.headers.get("authorization");
  switch (options.access) {
    case "anonymous":
      return true;
    case "basic":
      return given === basicOf(options.user);
    case "token":
      return given === `Bearer ${tokenFor(repository, options.user)}`;
  }
}

function challenge(name: string, repository: Repository, login: Login): Response {
  const bearer = `Bearer realm="${login.origin}/token",service="playground",scope="repository:${name}:pull"`;
  const header = repository.access === "token" ? bearer : BASIC_CHALLENGE;
  return refuse(401, "UNAUTHORIZED", { "www-authenticate": header });
}

function issueToken(request: Request, query: URLSearchParams, login: Login): Response {
  if (request.headers.get("authorization") !== basicOf(login.user)) return refuse(401, "UNAUTHORIZED");
  const repository = /^repository:(.+):pull$/.exec(query.get("scope") ?? "")?.[1] ?? "";
  return Response.json({ token: tokenFor(repository, login.user), expires_in: 300 });
}
