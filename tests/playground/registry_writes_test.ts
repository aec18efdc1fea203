import assert from "node:assert/strict";
import { openRegistry, type Registry } from "../../playground/registry.ts";
import { REGISTRY_USER, sampleCluster } from "../../playground/sample_cluster.ts";

const AUTHORIZATION = `Basic ${btoa(`${REGISTRY_USER.name}:${REGISTRY_USER.password}`)}`;
const INDEX = "application/vnd.oci.image.index.v1+json";
const EMPTY = `sha256:${"0".repeat(64)}`;

function open(): Promise<Registry> {
  return openRegistry({ images: sampleCluster().images, user: REGISTRY_USER });
}

const send = async (
  registry: Registry,
  method: string,
  path: string,
  { body = null, headers = { authorization: AUTHORIZATION } }: {
    readonly body?: BodyInit | null;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
) => {
  const answer = await fetch(`${registry.origin}${path}`, { method, headers, body });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

async function digestOf(text: string): Promise<string> {
  return `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex()}`;
}

Deno.test("openRegistry() lets nobody push but its user", async () => {
  await using registry = await open();
  const refused = await send(registry, "POST", "/v2/demo/web/blobs/uploads/", { headers: {} });
  assert.deepEqual([refused.status, refused.headers.get("www-authenticate")], [401, 'Basic realm="playground"']);
  assert.equal((await send(registry, "POST", "/v2/demo/web/blobs/uploads/")).status, 202);
});

Deno.test("openRegistry() takes a blob in pieces, and none whose digest is another", async () => {
  await using registry = await open();
  const begin = async (): Promise<string> =>
    (await send(registry, "POST", "/v2/new/app/blobs/uploads/")).headers.get("location") ?? "";
  const digest = await digestOf("onetwo");
  const upload = await begin();
  const patched = await send(registry, "PATCH", upload, { body: "one" });
  assert.deepEqual([patched.status, patched.headers.get("range")], [202, "0-2"]);
  const put = await send(registry, "PUT", `${upload}?digest=${digest}`, { body: "two" });
  assert.deepEqual([put.status, put.headers.get("docker-content-digest")], [201, digest]);
  assert.equal((await send(registry, "GET", `/v2/new/app/blobs/${digest}`)).text, "onetwo");
  const wrong = await send(registry, "PUT", `${await begin()}?digest=${EMPTY}`, { body: "x" });
  assert.deepEqual([wrong.status, JSON.parse(wrong.text).errors[0].code], [400, "DIGEST_INVALID"]);
  const given = await begin();
  assert.equal((await send(registry, "DELETE", given)).status, 204);
  assert.equal((await send(registry, "PUT", `${given}?digest=${digest}`, { body: "onetwo" })).status, 404);
});

Deno.test("openRegistry() takes a blob over from a neighbour, and begins an upload where there is none", async () => {
  await using registry = await open();
  const upload = (await send(registry, "POST", "/v2/one/app/blobs/uploads/")).headers.get("location") ?? "";
  const digest = await digestOf("x");
  await send(registry, "PUT", `${upload}?digest=${digest}`, { body: "x" });
  const mount = `/v2/two/app/blobs/uploads/?mount=${digest}&from=one/app`;
  assert.equal((await send(registry, "POST", mount)).status, 201);
  assert.equal((await send(registry, "GET", `/v2/two/app/blobs/${digest}`)).text, "x");
  assert.equal((await send(registry, "POST", mount.replace("one/app", "none"))).status, 202);
});

Deno.test("openRegistry() takes an index whose images it has, serves it by tag and digest, and deletes it by digest", async () => {
  await using registry = await open();
  const image = { tag: "a", architectures: ["arm64"], form: "oci-manifest" } as const;
  const child = await registry.push({ repository: "team/os", ...image });
  const indexOf = (digest: string): string =>
    JSON.stringify({ schemaVersion: 2, manifests: [{ digest, platform: { architecture: "arm64", os: "linux" } }] });
  const headers = { authorization: AUTHORIZATION, "content-type": INDEX };
  const path = "/v2/team/os/manifests";
  const lacking = await send(registry, "PUT", `${path}/v1`, { headers, body: indexOf(EMPTY) });
  assert.deepEqual([lacking.status, JSON.parse(lacking.text).errors[0].code], [404, "MANIFEST_BLOB_UNKNOWN"]);
  const digest = await digestOf(indexOf(child));
  assert.equal((await send(registry, "PUT", `${path}/${EMPTY}`, { headers, body: indexOf(child) })).status, 400);
  assert.equal((await send(registry, "PUT", `${path}/v1`, { headers, body: indexOf(child) })).status, 201);
  assert.equal(registry.digestOf("team/os", "v1"), digest);
  assert.deepEqual(registry.architecturesOf("team/os:v1"), ["arm64"]);
  assert.equal(registry.manifestOf(`team/os@${digest}`), indexOf(child));
  assert.equal((await send(registry, "DELETE", `${path}/${digest}`)).status, 202);
  assert.deepEqual([registry.digestOf("team/os", "v1"), registry.digestOf("team/os", "a")], [undefined, child]);
});
