// The push half of the playground's registry: uploads, mounts and manifests, for its one user.
import { parseObject } from "../lib/json.ts";
import { listAtPath, textAtPath } from "./json_path.ts";
import {
  API_VERSION,
  BASIC_CHALLENGE,
  basicOf,
  CONTENT_PATH,
  ensureRepository,
  refuse,
  type RegistryUser,
  type Repository,
} from "./registry_content.ts";

interface WritableRegistry {
  readonly repositories: Map<string, Repository>;
  readonly uploads: Map<string, Uint8Array<ArrayBuffer>>;
  readonly user: RegistryUser;
}

const UPLOAD_PATH = /^\/v2\/(.+)\/blobs\/uploads\/([^/]*)$/;

/** Answers a request that writes; undefined for one that reads. */
export async function answerWrite(request: Request, registry: WritableRegistry): Promise<Response | undefined> {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return undefined;
  if (request.headers.get("authorization") !== basicOf(registry.user)) {
    return refuse(401, "UNAUTHORIZED", { "www-authenticate": BASIC_CHALLENGE });
  }
  const url = new URL(request.url);
  const [, target, upload = ""] = UPLOAD_PATH.exec(url.pathname) ?? [];
  if (target !== undefined) {
    const repository = ensureRepository(registry.repositories, target);
    if (method === "POST" && upload === "") return beginUpload(url, { ...registry, target, repository });
    return await answerUpload(request, { ...registry, target, repository, upload });
  }
  const [, name = "", kind, identifier = ""] = CONTENT_PATH.exec(url.pathname) ?? [];
  if (kind === "manifests" && method === "PUT") {
    return await putManifest(request, {
      repository: ensureRepository(registry.repositories, name),
      identifier: decodeURIComponent(identifier),
    });
  }
  const repository = registry.repositories.get(name);
  if (kind === "manifests" && method === "DELETE" && repository !== undefined) {
    return deleteManifest(repository, decodeURIComponent(identifier));
  }
  return refuse(405, "UNSUPPORTED");
}

interface UploadTarget extends WritableRegistry {
  readonly target: string;
  readonly repository: Repository;
}

function beginUpload({ searchParams }: URL, { repositories, uploads, target, repository }: UploadTarget): Response {
  const digest = searchParams.get("mount") ?? "";
  const mounted = repositories.get(searchParams.get("from") ?? "")?.blobs.get(digest);
  if (mounted !== undefined) {
    repository.blobs.set(digest, mounted);
    return created(`/v2/${target}/blobs/${digest}`, digest);
  }
  const upload = crypto.randomUUID();
  uploads.set(upload, new Uint8Array());
  return accepted(target, upload, 0);
}

async function answerUpload(
  request: Request,
  { uploads, target, repository, upload }: UploadTarget & { readonly upload: string },
): Promise<Response> {
  const before = uploads.get(upload);
  if (before === undefined) return refuse(404, "BLOB_UPLOAD_UNKNOWN");
  if (request.method === "DELETE") {
    uploads.delete(upload);
    return new Response(null, { status: 204, headers: API_VERSION });
  }
  if (request.method !== "PATCH" && request.method !== "PUT") return refuse(405, "UNSUPPORTED");
  const more = new Uint8Array(await request.arrayBuffer());
  const bytes = new Uint8Array(before.length + more.length);
  bytes.set(before);
  bytes.set(more, before.length);
  if (request.method === "PATCH") {
    uploads.set(upload, bytes);
    return accepted(target, upload, bytes.length);
  }
  uploads.delete(upload);
  const digest = await digestOf(bytes);
  if (new URL(request.url).searchParams.get("digest") !== digest) return refuse(400, "DIGEST_INVALID");
  repository.blobs.set(digest, { digest, mediaType: "application/octet-stream", bytes });
  return created(`/v2/${target}/blobs/${digest}`, digest);
}

async function putManifest(
  request: Request,
  { repository, identifier }: { readonly repository: Repository; readonly identifier: string },
): Promise<Response> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const digest = await digestOf(bytes);
  if (identifier.startsWith("sha256:") && identifier !== digest) return refuse(400, "DIGEST_INVALID");
  const document = parseObject(new TextDecoder().decode(bytes));
  if (document === undefined) return refuse(400, "MANIFEST_INVALID");
  const { manifests, blobs, architectures } = repository;
  const isThere = (part: unknown): boolean => {
    const named = textAtPath(part, "digest") ?? "";
    return manifests.has(named) || blobs.has(named);
  };
  const entries = listAtPath(document, "manifests");
  const { config } = document;
  const parts = [...entries, ...listAtPath(document, "layers"), ...(config === undefined ? [] : [config])];
  if (!parts.every(isThere)) return refuse(404, "MANIFEST_BLOB_UNKNOWN");
  const mediaType = request.headers.get("content-type") ?? "application/octet-stream";
  const named = entries.flatMap((entry) => textAtPath(entry, "platform", "architecture") ?? []);
  for (const name of [digest, identifier]) {
    manifests.set(name, { digest, mediaType, bytes });
    if (named.length > 0) architectures.set(name, named);
  }
  return created(new URL(request.url).pathname, digest);
}

function deleteManifest({ manifests, architectures }: Repository, digest: string): Response {
  if (!digest.startsWith("sha256:")) return refuse(405, "UNSUPPORTED");
  const names = [...manifests].filter(([, content]) => content.digest === digest).map(([name]) => name);
  if (names.length === 0) return refuse(404, "MANIFEST_UNKNOWN");
  for (const name of names) {
    manifests.delete(name);
    architectures.delete(name);
  }
  return new Response(null, { status: 202, headers: API_VERSION });
}

function accepted(repository: string, upload: string, bytes: number): Response {
  const headers = {
    ...API_VERSION,
    location: `/v2/${repository}/blobs/uploads/${upload}`,
    range: `0-${Math.max(0, bytes - 1)}`,
  };
  return new Response(null, { status: 202, headers });
}

function created(location: string, digest: string): Response {
  return new Response(null, { status: 201, headers: { ...API_VERSION, location, "docker-content-digest": digest } });
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
}
