// What a registry has behind a reference, by platform.
import assert from "node:assert/strict";
import { read } from "./cluster_access.ts";
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
  const path = reference.slice(reference.indexOf("/") + 1);
  const [repository = "", identifier = ""] = path.includes("@") ? path.split("@") : splitTag(path);
  const answer = await get(registry, `/v2/${repository}/manifests/${identifier}`);
  if (answer.status === 404) return undefined;
  assert.equal(answer.status, 200, answer.text);
  const document: unknown = JSON.parse(answer.text);
  const manifests = read(document, "manifests");
  if (Array.isArray(manifests)) {
    return Object.fromEntries(
      manifests.map((one) => [String(read(one, "platform", "architecture")), String(read(one, "digest"))]),
    );
  }
  const config = await get(registry, `/v2/${repository}/blobs/${String(read(document, "config", "digest"))}`);
  return { [String(read(JSON.parse(config.text), "architecture"))]: answer.digest };
}

export async function readTagDigest(
  registry: RealRegistry,
  { repository, tag }: { readonly repository: string; readonly tag: string },
): Promise<string | undefined> {
  const answer = await get(registry, `/v2/${repository}/manifests/${tag}`);
  if (answer.status === 404) return undefined;
  assert.equal(answer.status, 200, answer.text);
  return answer.digest;
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
