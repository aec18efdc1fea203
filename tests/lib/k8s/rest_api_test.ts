// The REST client on a stub over real HTTP/1.1: what is sent, how answers and faults are told apart, what is tried again.
import assert from "node:assert/strict";
import { MAX_PARALLEL_REQUESTS, ServerClock } from "../../../lib/k8s/api_transport.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { AnswerTooLarge, ApiError, classifyWriteFailure } from "../../../lib/k8s/api_error.ts";
import { listAll } from "../../../lib/k8s/lists.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { type ApiServerStub, Match, openApiServerStub, statusBody } from "../../support/api_server.ts";
import { inPagesOf, openTestApi, plainAccess } from "../../support/cluster_api.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const never = new AbortController().signal;
const POD = { metadata: { name: "web", namespace: "shop", resourceVersion: "5" } };
const TARGET = { namespace: "shop", name: "web" };

async function withApi(
  play: (scene: { readonly stub: ApiServerStub; readonly api: KubeApi }) => Promise<void>,
): Promise<void> {
  await using stub = await openApiServerStub();
  await using api = openTestApi(plainAccess(stub.url));
  await play({ stub, api });
}

async function faultOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof ApiError, `an ApiError, not ${String(error)}`);
  return error;
}

Deno.test("patch() sends each format with its content type, field manager, force and dry run where it is one", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct(Match.any, { kind: "json", body: POD }, 4);
    const operations = [{ op: "add", path: "/metadata/labels", value: {} }] as const;
    const document = { metadata: { labels: { a: "b" } } };
    await api.patch(Resource.pods, TARGET, { body: { kind: "json", operations }, signal: never });
    await api.patch(Resource.pods, TARGET, { body: { kind: "merge", document }, signal: never });
    const applied = { kind: "apply", document } as const;
    await api.patch(Resource.pods, { ...TARGET, subresource: "status" }, { body: applied, signal: never });
    await api.patch(Resource.pods, TARGET, { body: { kind: "merge", document }, signal: never, isDryRun: true });
    const lines = stub.requests.map(({ method, path, headers, query }) =>
      `${method} ${path} ${headers["content-type"]} ${query}`
    );
    assert.deepEqual(lines, [
      "PATCH /api/v1/namespaces/shop/pods/web application/json-patch+json fieldManager=archway",
      "PATCH /api/v1/namespaces/shop/pods/web application/merge-patch+json fieldManager=archway",
      "PATCH /api/v1/namespaces/shop/pods/web/status application/apply-patch+yaml fieldManager=archway&force=true",
      "PATCH /api/v1/namespaces/shop/pods/web application/merge-patch+json fieldManager=archway&dryRun=All",
    ]);
    assert.deepEqual(stub.requests.map(({ body }) => JSON.parse(body)), [operations, document, document, document]);
    assert.equal(stub.requests[0]?.headers["user-agent"], "archway-tests/0");
  }));

Deno.test("create() and patch() ask for the metadata alone of pods and events", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct(Match.any, { kind: "json", body: POD }, 5);
    const body = { kind: "json", operations: [] } as const;
    await api.patch(Resource.pods, TARGET, { body, signal: never });
    await api.create(Resource.events, POD, { ...TARGET, signal: never });
    await api.create(Resource.pods, POD, { ...TARGET, subresource: "eviction", signal: never });
    await api.patch(Resource.nodes, { name: "n1" }, { body, signal: never });
    await api.get(Resource.pods, TARGET, never);
    const metadataAlone = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
    const [json, accepted] = ["application/json", stub.requests.map(({ headers }) => headers["accept"])];
    assert.deepEqual(accepted, [metadataAlone, metadataAlone, json, json, json]);
  }));

Deno.test("patch() with holdBack sends the head at once, and the body when it may", async () => {
  const [head, permission] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let body: string | undefined;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    head.resolve();
    body = await request.text();
    return Response.json(POD);
  });
  await using api = openTestApi(plainAccess(`http://127.0.0.1:${server.addr.port}`));
  const document = { metadata: { finalizers: [] } };
  const holdBack = permission.promise;
  const patched = api.patch(Resource.pods, TARGET, { body: { kind: "merge", document }, signal: never, holdBack });
  await head.promise;
  assert.equal(body, undefined);
  permission.resolve();
  await patched;
  assert.deepEqual(JSON.parse(body ?? ""), document);
});

Deno.test("create(), replace(), delete() and get() use the paths and bodies of the API", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct(Match.any, { kind: "json", body: POD }, 5);
    await api.create(Resource.pods, POD, { ...TARGET, signal: never });
    await api.create(Resource.pods, POD, { ...TARGET, subresource: "eviction", signal: never });
    await api.replace(Resource.pods, POD, { ...TARGET, signal: never });
    await api.delete(Resource.pods, TARGET, { uid: "u1", propagationPolicy: "Background", signal: never });
    await api.get(Resource.nodes, { name: "n1" }, never);
    assert.deepEqual(stub.requests.map(({ method, path }) => `${method} ${path}`), [
      "POST /api/v1/namespaces/shop/pods",
      "POST /api/v1/namespaces/shop/pods/web/eviction",
      "PUT /api/v1/namespaces/shop/pods/web",
      "DELETE /api/v1/namespaces/shop/pods/web",
      "GET /api/v1/nodes/n1",
    ]);
    assert.deepEqual(JSON.parse(stub.requests[3]?.body ?? ""), {
      kind: "DeleteOptions",
      apiVersion: "v1",
      preconditions: { uid: "u1" },
      propagationPolicy: "Background",
    });
  }));

Deno.test("get() parses no Secret or ServiceAccount whose users gave it thousands of members, but any other object", () =>
  withApi(async ({ stub, api }) => {
    const data = Object.fromEntries(Array.from({ length: 10_100 }, (_, at) => [`k${at}`, ""]));
    const reads = [Resource.secrets, Resource.serviceAccounts, Resource.configMaps];
    for (const dense of [true, false]) {
      const body = { metadata: POD.metadata, data: dense ? data : { k: "x".repeat(500_000) } };
      stub.obstruct(Match.any, { kind: "json", body }, reads.length);
      const ends = reads.map((type) => api.get(type, TARGET, never).then(() => "read", (error) => error.name));
      const tooLarge = dense ? "AnswerTooLarge" : "read";
      assert.deepEqual(await Promise.all(ends), [tooLarge, tooLarge, "read"]);
    }
  }));

Deno.test("create() takes the Status that answers an eviction, which has no name", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct(Match.any, { kind: "json", status: 201, body: { kind: "Status", metadata: {}, status: "Success" } });
    const evicted = await api.create(Resource.pods, {}, { ...TARGET, subresource: "eviction", signal: never });
    assert.equal(evicted.metadata.name, "web");
  }));

Deno.test("ApiError carries status, reason, causes and Retry-After of the server's Status", () =>
  withApi(async ({ stub, api }) => {
    const faultBy = (status: number, body: unknown, headers = {}): Promise<ApiError> => {
      stub.obstruct(Match.any, { kind: "json", status, body, headers });
      return faultOf(api.patch(Resource.pods, TARGET, { body: { kind: "json", operations: [] }, signal: never }));
    };
    const refused = await faultBy(422, statusBody(422, "Invalid", { details: { causes: [{ field: "spec" }] } }));
    assert.deepEqual([refused.status, refused.reason, refused.hasCauses], [422, "Invalid", true]);
    assert.equal(refused.message, 'Cannot patch pods "shop/web": the API server answered 422: stub says Invalid');
    assert.equal(classifyWriteFailure(refused), "refused");
    assert.equal(classifyWriteFailure(await faultBy(422, statusBody(422, "Invalid"))), "stale");
    const later = await faultBy(503, statusBody(503, "X"), { "retry-after": "7" });
    assert.deepEqual([later.retryAfterMs, classifyWriteFailure(later)], [7_000, "transient"]);
  }));

Deno.test("GET and LIST are tried again after 5xx, 429 and cut connections", () =>
  withApi(async ({ stub, api }) => {
    stub.put("a");
    stub.obstruct(Match.any, { kind: "json", status: 500, body: statusBody(500, "InternalError") });
    stub.obstruct(Match.any, { kind: "cut" });
    assert.equal((await api.list(Resource.pods, {}, never)).items.length, 1);
    stub.obstruct(Match.any, { kind: "destroy" });
    stub.obstruct(Match.any, { kind: "json", status: 429, body: statusBody(429, "TooManyRequests") });
    assert.equal((await api.list(Resource.pods, {}, never)).items.length, 1);
    stub.obstruct(Match.any, { kind: "json", status: 500, body: statusBody(500, "InternalError") }, 3);
    assert.equal((await faultOf(api.list(Resource.pods, {}, never))).status, 500);
  }));

Deno.test("a write is tried again after 429 only: 5xx and cuts may have been carried out", () =>
  withApi(async ({ stub, api }) => {
    const create = (): Promise<unknown> => api.create(Resource.pods, POD, { ...TARGET, signal: never });
    stub.obstruct(Match.any, { kind: "json", status: 429, body: statusBody(429, "TooManyRequests") });
    stub.obstruct(Match.any, { kind: "json", body: POD });
    await create();
    assert.equal(stub.requests.length, 2);
    stub.obstruct(Match.any, { kind: "json", status: 500, body: statusBody(500, "InternalError") });
    assert.equal((await faultOf(create())).status, 500);
    for (const [kind, requests] of [["cut", 4], ["destroy", 5]] as const) {
      stub.obstruct(Match.any, { kind });
      const { status, reason } = await faultOf(create());
      assert.deepEqual([status, reason, stub.requests.length], [0, "Interrupted", requests]);
    }
  }));

Deno.test("a refused connection is reported as unreachable, without the URL's query, and a write is tried again after it", async () => {
  const stub = await openApiServerStub();
  const { port, url } = stub;
  await using api = openTestApi(plainAccess(url));
  await stub.stop();
  const fault = await faultOf(api.list(Resource.pods, { labelSelector: "secret=value" }, never));
  assert.deepEqual([fault.status, fault.reason], [0, "Unreachable"]);
  assert.match(fault.message, /^Cannot list pods: no answer from the API server at 127\.0\.0\.1:\d+: .*refused/i);
  assert.doesNotMatch(fault.message, /secret/);
  const creating = api.create(Resource.pods, POD, { ...TARGET, signal: never });
  await stub.listen(port);
  stub.obstruct(Match.any, { kind: "json", body: POD });
  await creating;
  await stub.stop();
});

Deno.test("a call that gets no answer ends with its time limit, one that is aborted with the caller's reason", async () => {
  await using stub = await openApiServerStub();
  const clock = new FakeClock();
  await using api = openTestApi(plainAccess(stub.url), { clock });
  stub.obstruct(Match.any, { kind: "hang" }, 2);
  const creating = faultOf(api.create(Resource.pods, POD, { ...TARGET, signal: never }));
  await waitUntil("the request", () => stub.requests.length === 1, { intervalMs: 5 });
  await clock.advance(30_000);
  const fault = await creating;
  assert.deepEqual([fault.status, fault.reason], [0, "Timeout"]);
  const stop = new AbortController();
  const getting = api.get(Resource.pods, TARGET, stop.signal);
  await waitUntil("the request", () => stub.requests.length === 2, { intervalMs: 5 });
  stop.abort(new Error("going home"));
  await assert.rejects(getting, { message: "going home" });
});

Deno.test("a 401 makes credentials be read anew and the request be sent once more", async () => {
  await using stub = await openApiServerStub();
  let token = "old";
  await using api = openTestApi(plainAccess(stub.url, {
    credentials: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, tls: { caCerts: [] } }),
    discardCredentials: () => void (token = "new"),
  }));
  stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") });
  stub.obstruct(Match.any, { kind: "json", body: POD });
  await api.create(Resource.pods, POD, { ...TARGET, signal: never });
  assert.deepEqual(stub.requests.map(({ headers }) => headers["authorization"]), ["Bearer old", "Bearer new"]);
  stub.obstruct(Match.any, { kind: "json", status: 401, body: statusBody(401, "Unauthorized") }, 2);
  assert.equal((await faultOf(api.get(Resource.pods, TARGET, never))).status, 401);
  assert.equal(stub.requests.length, 4);
});

Deno.test("requests are capped, Leases and watches do not wait behind them", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct((request) => request.path.includes("/pods/"), { kind: "hang" }, 200);
    const stop = new AbortController();
    const many = Array.from({ length: 100 }, () => api.get(Resource.pods, TARGET, stop.signal).catch(() => {}));
    await waitUntil("the cap", () => stub.requests.length === MAX_PARALLEL_REQUESTS, { intervalMs: 5 });
    stub.obstruct((request) => request.path.includes("/leases/"), { kind: "json", body: POD });
    await api.get(Resource.leases, TARGET, never);
    const watch = api.watch(Resource.pods, { resourceVersion: "100", timeoutSeconds: 60 }, stop.signal);
    const first = watch[Symbol.asyncIterator]().next();
    await waitUntil("the watch", () => stub.watching === 1, { intervalMs: 5 });
    assert.equal(stub.requests.length, MAX_PARALLEL_REQUESTS + 2);
    stop.abort(new Error("enough"));
    await assert.rejects(first, { message: "enough" });
    await Promise.all(many);
  }));

Deno.test("raw() gives JSON parsed and other answers as text", () =>
  withApi(async ({ stub, api }) => {
    stub.obstruct(Match.any, { kind: "json", body: { gitVersion: "v1.36.3" } });
    assert.deepEqual(await api.raw("/version", never), { gitVersion: "v1.36.3" });
    stub.obstruct(Match.any, { kind: "json", body: "ok", headers: { "content-type": "text/plain" } });
    assert.equal(await api.raw("/readyz", never), '"ok"');
  }));

Deno.test("listAll() reads all pages and starts over when the continue token has expired", () =>
  withApi(async ({ stub, api }) => {
    for (const name of ["a", "b", "c", "d", "e"]) stub.put(name);
    const isSecondPage = (request: { readonly query: URLSearchParams }): boolean => request.query.has("continue");
    stub.obstruct(isSecondPage, { kind: "json", status: 410, body: statusBody(410, "Expired") });
    const names: string[] = [];
    for await (const pod of listAll(inPagesOf(2, api), Resource.pods, { resourceVersion: "0", signal: never })) {
      names.push(pod.metadata.name);
    }
    assert.deepEqual(names, ["a", "b", "a", "b", "c", "d", "e"]);
    const versions = stub.requests.map(({ query }) => [query.has("continue"), query.get("resourceVersion")]);
    assert.ok(versions.every(([isLater, version]) => version === (isLater ? null : "0")));
  }));

Deno.test("listAll() asks for ever fewer objects while pages are too large, and for more again where they are small", () =>
  withApi(async ({ stub, api }) => {
    const large = { padding: "x".repeat(1_400_000) };
    for (let at = 0; at < 10; at++) stub.put(`large-${at}`, large);
    for (let at = 0; at < 40; at++) stub.put(`small-${at}`);
    const names: string[] = [];
    for await (const pod of listAll(api, Resource.pods, { signal: never })) names.push(pod.metadata.name);
    assert.deepEqual([new Set(names).size, names.length], [50, 50]);
    const limits = stub.requests.map(({ query }) => Number(query.get("limit")));
    // 50 and 12 are given up after 8 MiB; then two large ones a page, then twice as many each time.
    assert.deepEqual(limits, [50, 12, 3, 2, 2, 2, 2, 4, 8, 16, 32]);
  }));

Deno.test("list() gives an object that is larger than a page when it is the only one", () =>
  withApi(async ({ stub, api }) => {
    stub.put("huge", { padding: "x".repeat(9_000_000) });
    const { items, bytes } = await api.list(Resource.pods, { limit: 1 }, never);
    assert.equal(items.length, 1);
    assert.ok(bytes !== undefined && bytes > 9_000_000);
    await assert.rejects(api.list(Resource.pods, { limit: 2 }, never), AnswerTooLarge);
    assert.equal(stub.requests.length, 2);
  }));

Deno.test("serverClockOffsetMs() narrows down on the server's clock and follows a jump of it", async () => {
  const clock = new FakeClock();
  const server = new ServerClock(clock);
  assert.equal(server.offsetMs(), 0);
  const aheadMs = 12_340;
  const learn = (offsetMs: number): void => {
    const sentMs = clock.monotonicMs();
    server.learn(new Date(clock.nowMs() + 5 + offsetMs).toUTCString(), { sentMs, receivedMs: sentMs + 10 });
  };
  for (let n = 0; n < 200; n++) {
    await clock.advance(137);
    learn(aheadMs);
  }
  assert.ok(Math.abs(server.offsetMs() - aheadMs) <= 80, `${server.offsetMs()}`);
  learn(-60_000);
  assert.ok(Math.abs(server.offsetMs() + 60_000) <= 1_000);
  server.learn("nonsense", { sentMs: 0, receivedMs: 0 });
  server.learn(null, { sentMs: 0, receivedMs: 0 });
  assert.ok(Math.abs(server.offsetMs() + 60_000) <= 1_000);
});

Deno.test("serverClockOffsetMs() makes up for a jump of our own clock before the next answer", () => {
  const clock = new FakeClock();
  const server = new ServerClock(clock);
  server.learn(new Date(clock.nowMs()).toUTCString(), { sentMs: 0, receivedMs: 0 });
  const serverNowMs = (): number => clock.nowMs() + server.offsetMs();
  const before = serverNowMs();
  for (const jumpMs of [600_000, -1_200_000]) {
    clock.jumpWall(jumpMs);
    assert.equal(serverNowMs(), before);
  }
});

Deno.test("a read that gets no answer is tried again, and each time somebody is told", async () => {
  await using stub = await openApiServerStub();
  const clock = new FakeClock();
  const said: string[] = [];
  await using api = openTestApi(plainAccess(stub.url), { clock, onSilence: (sentence) => said.push(sentence) });
  stub.obstruct(Match.any, { kind: "hang" }, 2);
  stub.obstruct(Match.any, { kind: "json", body: POD });
  const getting = api.get(Resource.pods, TARGET, never);
  for (const tries of [1, 2]) {
    await waitUntil("the request", () => stub.requests.length === tries, { intervalMs: 5 });
    await clock.advance(30_000);
    await waitUntil("the sentence", () => said.length === tries, { intervalMs: 5 });
    await clock.advance(2_000);
  }
  await getting;
  const what = 'Cannot get pods "shop/web" yet: no answer, trying again';
  assert.deepEqual(said, [`${what} (2 of 3).`, `${what} (3 of 3).`]);
});
