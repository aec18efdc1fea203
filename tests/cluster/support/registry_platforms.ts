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
  const { document, digest } = manifest;
  const manifests = read(document, "manifests");
  if (Array.isArray(manifests)) {
    return Object.fromEntries(
      manifests.map((one) => [String(read(one, "platform", "architecture")), String(read(one, "digest"))]),
    );
  }
  return { [String(read(await readConfig(registry, manifest), "architecture"))]: digest };
}

/** The layers of an image of one architecture, as they are unpacked. */
export async function readLayers(registry: RealRegistry, reference: string): Promise<readonly string[]> {
  const manifest = await readManifest(registry, reference);
  if (manifest === undefined) return [];
  return listAt(await readConfig(registry, manifest), "rootfs", "diff_ids").map(String);
}

async function readConfig(
  registry: RealRegistry,
  { document, repository }: { readonly document: unknown; readonly repository: string },
): Promise<unknown> {
  const { text } = await askRegistry(registry, `/v2/${repository}/blobs/${String(read(document, "config", "digest"))}`);
  return JSON.parse(text);
}

/** Undefined where nothing is behind the reference. */
export async function readManifest(
  registry: RealRegistry,
  reference: string,
): Promise<{ readonly document: unknown; readonly digest: string; readonly repository: string } | undefined> {
  const path = reference.slice(reference.indexOf("/") + 1);
  const [repository = "", identifier = ""] = path.includes("@") ? path.split("@") : splitTag(path);
  const { status, text, digest } = await askRegistry(registry, `/v2/${repository}/manifests/${identifier}`);
  if (status === 404) return undefined;
  assert.equal(status, 200, text);
  return { document: JSON.parse(text), digest, repository };
}

/** What it answers to a GET of its own user. */
export async function askRegistry(
  { url, users, caPem }: RealRegistry,
  path: string,
): Promise<{ readonly status: number; readonly text: string; readonly digest: string }> {
  const [[username = "", password = ""] = []] = Object.entries(users);
  const headers = { accept: MANIFESTS, authorization: renderBasic(username, password) };
  using client = Deno.createHttpClient({ caCerts: [caPem] });
  const response = await fetch(`${url}${path}`, { client, headers });
  const digest = response.headers.get("docker-content-digest") ?? "";
  return { status: response.status, text: await response.text(), digest };
}

function splitTag(path: string): readonly [string, string] {
  const colon = path.lastIndexOf(":");
  return [path.slice(0, colon), path.slice(colon + 1)];
}
