// The registry as a pull client sees it, by plain fetch.
import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { isObject, type JsonObject, listAt, textAt } from "../../playground/json_value.ts";
import { openRegistry, type Registry, type RegistryOptions } from "../../playground/registry.ts";
import { REGISTRY_USER, sampleImages } from "../../playground/samples.ts";

function open(rest: Partial<RegistryOptions> = {}): Promise<Registry> {
  return openRegistry({ images: sampleImages(), user: REGISTRY_USER, clock: systemClock, ...rest });
}

async function get(registry: Registry, path: string, headers: HeadersInit = {}): Promise<Response & { json: unknown }> {
  const response = await fetch(path.startsWith("http") ? path : `${registry.origin}${path}`, { headers });
  const json: unknown = await response.json();
  return Object.assign(response, { json });
}

function platformsOf(index: unknown): readonly string[] {
  return listAt(index, "manifests").map((entry) => textAt(entry, "platform", "architecture") ?? "");
}

Deno.test("openRegistry() serves an OCI index with an attestation, by tag and by digest", async () => {
  await using registry = await open();
  const byTag = await get(registry, "/v2/demo/web/manifests/v1");
  assert.equal(byTag.headers.get("content-type"), "application/vnd.oci.image.index.v1+json");
  assert.deepEqual(platformsOf(byTag.json), ["amd64", "arm64", "unknown"]);
  const digest = byTag.headers.get("docker-content-digest") ?? "";
  assert.equal(digest, registry.digestOf("demo/web", "v1"));
  assert.deepEqual((await get(registry, `/v2/demo/web/manifests/${digest}`)).json, byTag.json);
});

Deno.test("openRegistry() serves Docker lists, single manifests and their configs", async () => {
  await using registry = await open();
  const list = await get(registry, "/v2/demo/metrics/manifests/v1");
  assert.match(list.headers.get("content-type") ?? "", /manifest\.list\.v2/);
  const single = await get(registry, "/v2/demo/bundle/manifests/v1");
  const config = await get(registry, `/v2/demo/bundle/blobs/${textAt(single.json, "config", "digest")}`);
  assert.equal(textAt(config.json, "architecture"), "amd64");
  assert.ok(isObject(config.json) && JSON.stringify(config.json).includes("bundle.mediatype"));
});

Deno.test("openRegistry() answers HEAD without a body and counts requests by kind", async () => {
  await using registry = await open();
  const head = await fetch(`${registry.origin}/v2/demo/edge/manifests/v1`, { method: "HEAD" });
  assert.equal(await head.text(), "");
  assert.match(head.headers.get("docker-content-digest") ?? "", /^sha256:[0-9a-f]{64}$/);
  await get(registry, "/v2/demo/edge/manifests/v1");
  await get(registry, "/v2/");
  assert.deepEqual(registry.counts(), { manifestGet: 1, manifestHead: 1, blobGet: 0, token: 0, other: 1 });
});

Deno.test("openRegistry() answers unknown images with 404 and a registry error", async () => {
  await using registry = await open();
  for (
    const [path, code] of [["demo/none/manifests/v1", "NAME_UNKNOWN"], ["demo/web/manifests/v9", "MANIFEST_UNKNOWN"]]
  ) {
    const missing = await get(registry, `/v2/${path}`);
    assert.deepEqual([missing.status, textAt(missing.json, "errors", 0, "code")], [404, code]);
  }
});

const BASIC: JsonObject & { readonly authorization: string } = {
  authorization: `Basic ${btoa(`${REGISTRY_USER.name}:${REGISTRY_USER.password}`)}`,
};

Deno.test("openRegistry() gives a token repository's manifest only for a token of its realm", async () => {
  await using registry = await open();
  const path = "/v2/private/app/manifests/v1";
  const refused = await get(registry, path);
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const realm = /realm="([^"]+)"/.exec(challenge)?.[1] ?? "";
  const scope = /scope="([^"]+)"/.exec(challenge)?.[1] ?? "";
  assert.equal(scope, "repository:private/app:pull");
  const tokenUrl = `${realm}?service=playground&scope=${encodeURIComponent(scope)}`;
  assert.equal((await get(registry, tokenUrl)).status, 401);
  const granted = await get(registry, tokenUrl, { authorization: BASIC.authorization });
  const authorization = `Bearer ${textAt(granted.json, "token")}`;
  assert.equal((await get(registry, path, { authorization })).status, 200);
  assert.equal((await get(registry, path, { authorization: BASIC.authorization })).status, 401);
});

Deno.test("openRegistry() takes Basic for a basic repository", async () => {
  await using registry = await open();
  const path = "/v2/private/tool/manifests/v1";
  const refused = await get(registry, path);
  assert.deepEqual([refused.status, refused.headers.get("www-authenticate")], [401, 'Basic realm="playground"']);
  assert.equal((await get(registry, path, { authorization: BASIC.authorization })).status, 200);
});

Deno.test("openRegistry() lets a test answer with faults instead", async () => {
  let faults = 1;
  await using registry = await open({
    intercept: () => faults-- > 0 ? Response.json({}, { status: 500 }) : undefined,
  });
  assert.equal((await get(registry, "/v2/demo/web/manifests/v1")).status, 500);
  assert.equal((await get(registry, "/v2/demo/web/manifests/v1")).status, 200);
});

Deno.test("architecturesOf() finds images by tag and by digest", async () => {
  await using registry = await open();
  assert.deepEqual(registry.architecturesOf("demo/web:v1"), ["amd64", "arm64"]);
  assert.deepEqual(registry.architecturesOf(`demo/edge@${registry.digestOf("demo/edge", "v1")}`), ["arm64"]);
  assert.equal(registry.architecturesOf("demo/missing:v1"), undefined);
});
