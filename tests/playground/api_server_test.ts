import assert from "node:assert/strict";
import { objectAtPath, textAtPath, valueAtPath } from "../../playground/json_path.ts";
import { podBody, serveCluster, type ServedCluster } from "./make.ts";

const PODS = "/api/v1/namespaces/default/pods";
const JSON_PATCH = "application/json-patch+json";

function test(name: string, play: (api: ServedCluster) => Promise<void>): void {
  Deno.test(name, async () => {
    await using api = await serveCluster();
    await play(api);
  });
}

test("POST creates with uid, defaults and phase Pending, and refuses a second of that name", async (api) => {
  const created = await api.send("POST", PODS, { body: podBody("a") });
  assert.equal(created.status, 201);
  assert.match(textAtPath(created.body, "metadata", "uid") ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(textAtPath(created.body, "spec", "serviceAccountName"), "default");
  assert.equal(textAtPath(created.body, "spec", "containers", 0, "imagePullPolicy"), "IfNotPresent");
  assert.equal(textAtPath(created.body, "status", "phase"), "Pending");
  const again = await api.send("POST", PODS, { body: podBody("a") });
  assert.deepEqual([again.status, again.body.reason], [409, "AlreadyExists"]);
});

test("POST generates names, and refuses unknown namespaces and nameless objects", async (api) => {
  const generated = await api.send("POST", PODS, { body: podBody("", {}, { generateName: "web-" }) });
  assert.match(textAtPath(generated.body, "metadata", "name") ?? "", /^web-[a-z0-9]{5}$/);
  const elsewhere = await api.send("POST", "/api/v1/namespaces/none/pods", { body: podBody("a") });
  assert.deepEqual([elsewhere.status, elsewhere.body.message], [404, 'namespaces "none" not found']);
  assert.equal((await api.send("POST", PODS, { body: podBody("") })).status, 422);
});

test("POST ?dryRun=All answers as usual and stores nothing", async (api) => {
  assert.equal((await api.send("POST", `${PODS}?dryRun=All`, { body: podBody("a") })).status, 201);
  assert.equal((await api.send("GET", `${PODS}/a`)).status, 404);
});

test("GET lists with selectors, without apiVersion in the items", async (api) => {
  for (const name of ["a", "b", "c"]) {
    await api.send("POST", PODS, { body: podBody(name, {}, { labels: { odd: String(name !== "b") } }) });
  }
  const odd = await api.send("GET", `/api/v1/pods?labelSelector=${encodeURIComponent("odd in (true)")}`);
  assert.deepEqual(names(odd.body), ["a", "c"]);
  assert.equal(valueAtPath(odd.body, "items", 0, "kind"), undefined);
  assert.deepEqual(names((await api.send("GET", `${PODS}?fieldSelector=metadata.name%3Db`)).body), ["b"]);
});

function names(list: unknown): readonly (string | undefined)[] {
  const items = valueAtPath(list, "items");
  return Array.isArray(items) ? items.map((item) => textAtPath(item, "metadata", "name")) : [];
}

test("PUT refuses a stale resourceVersion with 409 and ignores the status", async (api) => {
  const { body: pod } = await api.send("POST", PODS, { body: podBody("a") });
  const metadata = objectAtPath(pod, "metadata");
  const labelled = { ...pod, metadata: { ...metadata, labels: { x: "y" } }, status: { phase: "Failed" } };
  const updated = await api.send("PUT", `${PODS}/a`, { body: labelled });
  assert.deepEqual([updated.status, textAtPath(updated.body, "status", "phase")], [200, "Pending"]);
  const stale = await api.send("PUT", `${PODS}/a`, { body: labelled });
  assert.deepEqual([stale.status, stale.body.reason], [409, "Conflict"]);
});

test("PUT of what is there already changes no resourceVersion", async (api) => {
  const { body: pod } = await api.send("POST", PODS, { body: podBody("a") });
  const same = await api.send("PUT", `${PODS}/a`, { body: pod });
  assert.equal(textAtPath(same.body, "metadata", "resourceVersion"), textAtPath(pod, "metadata", "resourceVersion"));
});

test("PATCH ?dryRun=All answers as usual, refusals included, and stores nothing", async (api) => {
  await api.send("POST", PODS, { body: podBody("a") });
  const send = async (path: string, value: unknown): Promise<number> =>
    (await api.send("PATCH", `${PODS}/a?dryRun=All`, { type: JSON_PATCH, body: [{ op: "add", path, value }] })).status;
  const before = (await api.send("GET", `${PODS}/a`)).body;
  assert.equal(await send("/spec/tolerations", [{ key: "k", operator: "Exists" }]), 200);
  assert.equal(await send("/spec/none/a", 1), 422);
  assert.deepEqual((await api.send("GET", `${PODS}/a`)).body, before);
});

test("PATCH answers a failed test or a missing path with 422 Invalid without causes", async (api) => {
  await api.send("POST", PODS, { body: podBody("a") });
  for (const operation of [{ op: "test", path: "/metadata/name", value: "b" }, { op: "remove", path: "/spec/none" }]) {
    const { status, body } = await api.send("PATCH", `${PODS}/a`, { type: JSON_PATCH, body: [operation] });
    assert.deepEqual([status, body.reason, valueAtPath(body, "details", "causes")], [422, "Invalid", undefined]);
    assert.equal(body.message, "the server rejected our request due to an error in our request");
  }
});

test("PATCH merges, and applies to create", async (api) => {
  const path = "/api/v1/namespaces/default/configmaps/c";
  const applied = await api.send("PATCH", `${path}?fieldManager=archway`, {
    type: "application/apply-patch+yaml",
    body: { metadata: { name: "c", namespace: "default" }, data: { a: "1", b: "2" } },
  });
  assert.equal(applied.status, 201);
  const merged = await api.send("PATCH", path, { type: "application/merge-patch+json", body: { data: { a: null } } });
  assert.deepEqual(merged.body.data, { b: "2" });
  assert.equal((await api.send("PATCH", path, { type: "text/plain", body: {} })).status, 415);
});

test("PATCH of /status changes nothing but the status", async (api) => {
  await api.send("POST", PODS, { body: podBody("a") });
  const { body } = await api.send("PATCH", `${PODS}/a/status`, {
    type: "application/merge-patch+json",
    body: { status: { phase: "Running" }, spec: { restartPolicy: "Never" } },
  });
  assert.deepEqual([textAtPath(body, "status", "phase"), textAtPath(body, "spec", "restartPolicy")], [
    "Running",
    "Always",
  ]);
});

test("DELETE waits for finalizers, and checks preconditions", async (api) => {
  await api.send("POST", PODS, { body: podBody("a", {}, { finalizers: ["x.io/hold"] }) });
  const other = await api.send("DELETE", `${PODS}/a`, { body: { preconditions: { uid: "other" } } });
  assert.equal(other.status, 409);
  assert.equal((await api.send("DELETE", `${PODS}/a`)).status, 200);
  const held = await api.send("GET", `${PODS}/a`);
  assert.notEqual(textAtPath(held.body, "metadata", "deletionTimestamp"), undefined);
  const body = [{ op: "remove", path: "/metadata/finalizers" }];
  await api.send("PATCH", `${PODS}/a`, { type: JSON_PATCH, body });
  assert.equal((await api.send("GET", `${PODS}/a`)).status, 404);
});

test("DELETE of a namespace takes its contents, and a collection refuses it", async (api) => {
  await api.send("POST", PODS, { body: podBody("a") });
  assert.equal((await api.send("DELETE", PODS)).status, 405);
  await api.send("DELETE", "/api/v1/namespaces/default");
  assert.deepEqual(names((await api.send("GET", "/api/v1/pods")).body), []);
});

test("the API server discovers its kinds and answers unknown paths with 404", async (api) => {
  const groups = await api.send("GET", "/apis");
  assert.ok(JSON.stringify(groups.body).includes("multiarch.openshift.io/v1beta1"));
  assert.ok(JSON.stringify((await api.send("GET", "/api/v1")).body).includes('"pods/status"'));
  assert.match(textAtPath((await api.send("GET", "/version")).body, "gitVersion") ?? "", /^v1\./);
  for (const path of ["/apis/none/v1/things", "/api/v1/namespaces/default/nodes", "/nothing", `${PODS}/a/log`]) {
    assert.equal((await api.send("GET", path)).status, 404, path);
  }
});

test("POST of a Secret turns stringData into data", async (api) => {
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "ü" } };
  const created = await api.send("POST", "/api/v1/namespaces/default/secrets", { body });
  const { type, data, stringData } = created.body;
  assert.deepEqual([type, data, stringData], ["Opaque", { a: btoa(String.fromCharCode(0xc3, 0xbc)) }, undefined]);
});
