import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { type JsonObject, textAt } from "../../playground/json_value.ts";
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
