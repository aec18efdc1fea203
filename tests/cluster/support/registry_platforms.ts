// What a registry has behind a reference, by platform.
import assert from "node:assert/strict";
import { listAt, read } from "./cluster_access.ts";
import { type RealRegistry, renderBasic } from "./registry.ts";

const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

export async function readPlatforms(
  registry: RealRegistry,
  reference: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const manifest = await readManifest(registry, reference);
  if (manifest === undefined) return undefined;
  const { document, digest, repository } = manifest;
  const manifests = read(document, "manifests");
  if (Array.isArray(manifests)) {
    return Object.fromEntries(
      manifests.map((one) => [String(read(one, "platform", "architecture")), String(read(one, "digest"))]),
    );
  }
  const config = await get(registry, `/v2/${repository}/blobs/${String(read(document, "config", "digest"))}`);
  return { [String(read(JSON.parse(config.text), "architecture"))]: digest };
}

/** Digests of an image of one architecture. */
export async function readLayers(registry: RealRegistry, reference: string): Promise<readonly string[]> {
  const manifest = await readManifest(registry, reference);
  return listAt(manifest?.document, "layers").map((each) => String(read(each, "digest")));
}

/** Undefined where nothing is behind the reference. */
export async function readManifest(
  registry: RealRegistry,
  reference: string,
): Promise<{ readonly document: unknown; readonly digest: string; readonly repository: string } | undefined> {
  const path = reference.slice(reference.indexOf("/") + 1);
  const [repository = "", identifier = ""] = path.includes("@") ? path.split("@") : splitTag(path);
  const { status, text, digest } = await get(registry, `/v2/${repository}/manifests/${identifier}`);
  if (status === 404) return undefined;
  assert.equal(status, 200, text);
  return { document: JSON.parse(text), digest, repository };
}

async function get(
  { url, users }: RealRegistry,
  path: string,
): Promise<{ readonly status: number; readonly text: string; readonly digest: string }> {
  const [[username = "", password = ""] = []] = Object.entries(users);
  const headers = { accept: MANIFESTS, authorization: renderBasic(username, password) };
  const response = await fetch(`${url}${path}`, { headers });
  const digest = response.headers.get("docker-content-digest") ?? "";
  return { status: response.status, text: await response.text(), digest };
}

function splitTag(path: string): readonly [string, string] {
  const colon = path.lastIndexOf(":");
  return [path.slice(0, colon), path.slice(colon + 1)];
}
