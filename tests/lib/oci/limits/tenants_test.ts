import assert from "node:assert/strict";
import { orAborted } from "../../../../lib/clock.ts";
import type { InspectionReport } from "../../../../lib/oci/inspection_request.ts";
import { makeEntry, makeImage, makeIndex, MediaType } from "../../../support/documents.ts";
import {
  LOOK_UP_AGAIN,
  makeCredential,
  openTestInspector,
  outcomeOf,
  type TestInspector,
} from "../../../support/inspectors.ts";

const CHILD = makeEntry(makeImage().manifest, { platform: { os: "linux", architecture: "arm64" } });
const ANSWER_MS = 50;
const HOST_REQUESTS_OF_ONE = 16;

/** As Quay answers for a tag that was deleted or has expired. */
const DELETED = { errors: [{ code: "INTERNAL", message: "Tag v1 was deleted or has expired. To pull, revive it" }] };

/** `broken/…` answers 502; an image that begins with `gone` was deleted; the login `evil` is over its quota; everything else is an index, after a while. */
async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  const authorization = request.headers.get("authorization");
  if (path.includes("/private/") && authorization === null) {
    return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="registry"' } });
  }
  if (authorization === `Basic ${btoa("evil:password")}`) {
    return new Response("", { status: 429, headers: { "retry-after": "3600" } });
  }
  if (path.includes("/broken/")) return new Response("", { status: 502 });
  if (path.includes("/gone")) return Response.json(DELETED, { status: 500 });
  await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  // Of each path another digest.
  const { text, mediaType } = makeIndex([CHILD], { body: { mediaType: MediaType.ociIndex, path } });
  return new Response(text, { headers: { "content-type": mediaType } });
}

async function withHost(work: (inspector: TestInspector, host: string) => Promise<void>): Promise<void> {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  using inspector = openTestInspector();
  await work(inspector, `127.0.0.1:${server.addr.port}`);
}

Deno.test("a pod with 400 images of a host leaves permits there for another namespace", () =>
  withHost(async (inspector, host) => {
    let floodLeft = 400;
    const flood = Array.from({ length: floodLeft }, async (_, at) => {
      await inspector.inspect(`${host}/evil/i${at}:v1`, { namespace: "evil" });
      floodLeft -= 1;
    });
    assert.equal(outcomeOf(await inspector.inspect(`${host}/good/app:v1`, { namespace: "good" })), "platforms");
    assert.ok(floodLeft > 300, `${floodLeft} of the flood wait longer`);
    await Promise.all(flood);
  }));

Deno.test("a namespace whose requests a host holds back delays no login of another namespace there", async () => {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = 0;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (request.url.includes("/evil/")) {
      if (++isHeld === HOST_REQUESTS_OF_ONE) held.resolve();
      await released.promise;
    }
    return await answer(request);
  });
  const host = `127.0.0.1:${server.addr.port}`;
  using inspector = openTestInspector();
  const credentials = [makeCredential(host)];
  const inspect = (name: string, namespace: string, wanted = credentials): Promise<InspectionReport> =>
    inspector.inspect(`${host}/${name}:v1`, { namespace, credentials: wanted });
  const flood = Array.from({ length: HOST_REQUESTS_OF_ONE }, (_, at) => inspect(`evil/i${at}`, "evil", []));
  await held.promise;
  // Its login waits for the others of its namespace, and is that of the host.
  flood.push(inspect("evil/app", "evil"));
  const good = inspect("good/app", "good").then(outcomeOf);
  assert.equal(await orAborted(good, AbortSignal.timeout(5_000)).finally(released.resolve), "platforms");
  await Promise.all(flood);
});

Deno.test("a repository that always answers 502 stops no other one of its host", () =>
  withHost(async (inspector, host) => {
    const outcomes = new Set<string>();
    for (let at = 0; at < 15; at++) {
      const broken = [1, 2, 3, 4].map((n) => inspector.inspect(`${host}/broken/i${n}:v${at}`, { namespace: "evil" }));
      outcomes.add(outcomeOf(await inspector.inspect(`${host}/good/app:v${at}`, { namespace: "good" })));
      await Promise.all(broken);
    }
    assert.deepEqual([...outcomes], ["platforms"]);
  }));

Deno.test("an account over its quota stops no other account", () =>
  withHost(async (inspector, host) => {
    const as = (username: string): Promise<InspectionReport> =>
      inspector.inspect(`${host}/private/${username}:v1`, { credentials: [makeCredential(host, { username })] });
    assert.equal(outcomeOf(await as("evil")), "RateLimited");
    assert.equal(outcomeOf(await as("evil")), "RateLimited");
    assert.equal(outcomeOf(await as("good")), "platforms");
  }));

Deno.test("tags that Quay has deleted since they were read stop no other image of their organisation", async () => {
  const deleted = new Set<string>();
  const seen: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const isDeleted = [...deleted].some((tag) => pathname.endsWith(tag));
    if (isDeleted) seen.push(request.method);
    return isDeleted ? Response.json(DELETED, { status: 500 }) : await answer(request);
  });
  const host = `127.0.0.1:${server.addr.port}`;
  using inspector = openTestInspector();
  const tags = Array.from({ length: 12 }, (_, at) => `v${at}.0`);
  const again = (tag: string): Promise<InspectionReport> =>
    inspector.inspect(`${host}/org/old:${tag}`, { namespace: "evil", freshness: LOOK_UP_AGAIN });
  for (const tag of tags) assert.equal(outcomeOf(await again(tag)), "platforms");
  for (const tag of tags) deleted.add(tag);
  for (const tag of tags) assert.equal(outcomeOf(await again(tag)), "ManifestUnknown");
  assert.deepEqual([...new Set(seen)], ["HEAD", "GET"]);
  assert.deepEqual(inspector.hostStates().map(({ circuit }) => circuit), ["closed"]);
  assert.equal(outcomeOf(await inspector.inspect(`${host}/org/app:v1`, { namespace: "good" })), "platforms");
});
