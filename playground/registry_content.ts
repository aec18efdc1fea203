// What the playground's registry holds, and its answers: shared by its pull half and its push half.
import type { ManifestContent } from "../lib/oci/push/target_repository.ts";
import type { BuiltImage, ImageDescription } from "./registry_images.ts";

export interface Repository {
  /** Who may pull; only the registry's one user may push. */
  readonly access: "anonymous" | "basic" | "token";
  readonly manifests: Map<string, ManifestContent>;
  readonly blobs: Map<string, ManifestContent>;
  readonly architectures: Map<string, readonly string[]>;
}

export interface RegistryUser {
  readonly name: string;
  readonly password: string;
}

export const CONTENT_PATH = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/;

export const API_VERSION = { "docker-distribution-api-version": "registry/2.0" } as const;

export const BASIC_CHALLENGE = 'Basic realm="playground"';

/** The repository of that name; one that does not exist is created, and every client may pull from it. */
export function ensureRepository(
  repositories: Map<string, Repository>,
  name: string,
  access: Repository["access"] = "anonymous",
): Repository {
  const repository = repositories.get(name) ?? {
    access,
    manifests: new Map<string, ManifestContent>(),
    blobs: new Map<string, ManifestContent>(),
    architectures: new Map<string, readonly string[]>(),
  };
  repositories.set(name, repository);
  return repository;
}

export function addImage(repositories: Map<string, Repository>, image: ImageDescription, built: BuiltImage): void {
  const repository = ensureRepository(repositories, image.repository, image.access);
  for (const blob of built.blobs) repository.blobs.set(blob.digest, blob);
  for (const manifest of built.manifests) repository.manifests.set(manifest.digest, manifest);
  repository.manifests.set(image.tag, built.top);
  for (const name of [image.tag, built.top.digest]) repository.architectures.set(name, image.architectures);
}

/** Repository, and tag or digest, of `repository:tag` or `repository@digest`. */
export function splitReference(reference: string): readonly [repository: string, identifier: string] {
  const [, repository = "", identifier = ""] = /^([^@]+)@(.+)$/.exec(reference) ??
    /^(.+):([^:/]+)$/.exec(reference) ?? [];
  return [repository, identifier];
}

export function refuse(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response {
  const message = code.toLowerCase().replaceAll("_", " ");
  return Response.json({ errors: [{ code, message }] }, { status, headers: { ...API_VERSION, ...headers } });
}

export function basicOf(user: RegistryUser): string {
  return `Basic ${btoa(`${user.name}:${user.password}`)}`;
}
