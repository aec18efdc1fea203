import assert from "node:assert/strict";
import { systemClock } from "../../../lib/clock.ts";
import { silentLogger } from "../../../lib/log.ts";
import { Reflector } from "../../../lib/k8s/reflector.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { createAuthority } from "../../cluster/support/pki.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { type ApiServerStub, Match, openApiServerStub, statusBody, type WatchCut } from "../../support/api_server.ts";
import { openTestApi, plainAccess } from "../../support/cluster_api.ts";

interface Scene {
  readonly stub: ApiServerStub;
  readonly reflector: Reflector<string>;
  /** What follows from the reported changes alone. */
  readonly heard: ReadonlyMap<string, string>;
  readonly changes: readonly string[];
  /** Waits until reader, copy and server agree on these names. */
  agreeOn(names: readonly string[]): Promise<void>;
}

async function withReflector(play: (scene: Scene) => Promise<void>): Promise<void> {
  const authority = await createAuthority("stub");
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "stub", usage: "server" });
  await using stub = await openApiServerStub({ tls: { cert, key } });
  for (const name of ["first-0", "first-1"]) stub.put(name);
  const credentials = { headers: {}, tls: { caCerts: [authority.certificatePem] } };
  await using api = openTestApi(plainAccess(stub.url, { credentials: () => Promise.resolve(credentials) }));
  const heard = new Map<string, string>();
  const changes: string[] = [];
  const reflector = new Reflector<string>({
    retain: { kind: "all" },
    api,
    resource: Resource.pods,
    parse: (object) => object.metadata.resourceVersion,
    onChange: (change) => {
      changes.push(`${change.kind} ${change.key}`);
      if (change.kind === "apply") heard.set(change.key, change.value);
      else heard.delete(change.key);
    },
    clock: systemClock,
    log: silentLogger,
    name: "pods",
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  const agreeOn = async (names: readonly string[]): Promise<void> => {
    const wanted = names.map((name) => `default/${name}`).sort().join();
    await waitUntil(`the names ${wanted}`, () => [...heard.keys()].sort().join() === wanted, { deadlineMs: 10_000 });
    for (const [name, version] of heard) assert.equal(reflector.get(name), version);
    assert.equal(reflector.size, names.length);
  };
  try {
    await reflector.synced(AbortSignal.timeout(5_000));
    await waitUntil("an open watch", () => stub.watching === 1, { intervalMs: 5 });
    await play({ stub, reflector, heard, changes, agreeOn });
  } finally {
    stop.abort();
    await running;
  }
}

const CUTS: readonly { readonly how: WatchCut; readonly title: string; readonly lists: number }[] = [
  { how: "end", title: "resumes without a list after a clean end", lists: 1 },
  { how: "destroy", title: "resumes without a list after the socket was destroyed", lists: 1 },
  { how: "half-line", title: "ignores half a line before a cut and resumes", lists: 1 },
  { how: "gone", title: "lists again after an in-stream 410", lists: 2 },
  { how: "gone-left-open", title: "lists again at once after an in-stream 410 with the stream left open", lists: 2 },
];

for (const { how, title, lists } of CUTS) {
  Deno.test(`reflector: ${title}, and loses nothing`, () =>
    withReflector(async ({ stub, agreeOn, changes }) => {
      stub.put("before");
      await agreeOn(["first-0", "first-1", "before"]);
      stub.cutWatches(how);
      // All of this happens without a watch.
      stub.put("meanwhile");
      stub.put("first-0", { changed: true });
      stub.remove("first-1");
      await agreeOn(["first-0", "before", "meanwhile"]);
      await waitUntil("the next watch", () => stub.watching === 1);
      stub.put("after");
      await agreeOn(["first-0", "before", "meanwhile", "after"]);
      assert.equal(stub.requests.filter(Match.list).length, lists);
      // Each is reported once: resuming repeats nothing, a list reports differences only.
      assert.equal(changes.filter((change) => change.startsWith("apply default/before")).length, 1);
    }));
}

Deno.test("reflector: resumes from a bookmark, so that an old watch position is not refused", () =>
  withReflector(async ({ stub, agreeOn }) => {
    stub.bookmark();
    const last = String(stub.version);
    await waitUntil("the bookmark to be read", async () => {
      stub.cutWatches("end");
      await waitUntil("a watch", () => stub.watching === 1, { intervalMs: 5 });
      return stub.requests.filter(Match.watch).at(-1)?.query.get("resourceVersion") === last;
    });
    stub.compact();
    stub.put("after");
    await agreeOn(["first-0", "first-1", "after"]);
    assert.equal(stub.requests.filter(Match.list).length, 1);
    assert.equal(stub.requests.filter(Match.watch)[0]?.query.get("allowWatchBookmarks"), "true");
  }));

Deno.test("reflector: lists again after an HTTP 410 and deletes what is gone", () =>
  withReflector(async ({ stub, agreeOn }) => {
    stub.cutWatches("end");
    stub.remove("first-0");
    stub.put("new");
    stub.compact();
    await agreeOn(["first-1", "new"]);
    assert.equal(stub.requests.filter(Match.list).length, 2);
  }));

Deno.test("reflector: backs off and goes on after 500, 429 and cuts before the answer", () =>
  withReflector(async ({ stub, agreeOn }) => {
    stub.obstruct(Match.watch, { kind: "json", status: 500, body: statusBody(500, "InternalError") });
    stub.obstruct(Match.watch, { kind: "json", status: 429, body: statusBody(429, "TooManyRequests") });
    stub.obstruct(Match.watch, { kind: "destroy" });
    stub.cutWatches("destroy");
    stub.put("meanwhile");
    await agreeOn(["first-0", "first-1", "meanwhile"]);
    assert.equal(stub.requests.filter(Match.list).length, 1);
  }));

Deno.test("reflector: keeps trying while the API server is gone and has everything when it is back", () =>
  withReflector(async ({ stub, agreeOn, reflector }) => {
    const port = stub.port;
    await stub.stop();
    stub.put("while-down");
    stub.remove("first-1");
    assert.ok(reflector.hasSynced(), "the copy serves on");
    await stub.listen(port);
    await agreeOn(["first-0", "while-down"]);
  }));

Deno.test("reflector: loses nothing when the server drops it again and again for reading too slowly", () =>
  withReflector(async ({ stub, heard, reflector }) => {
    stub.slowReaderBytes = 512 * 1024;
    const padding = "x".repeat(7_000);
    const names = 1_000;
    for (let n = 0; n < names; n++) {
      stub.put(`burst-${n}`, { padding });
      // Long bursts, in which the reader has no turn at all.
      if (n % 250 === 249) await waitUntil("a watch", () => stub.watching === 1, { intervalMs: 1 });
    }
    await waitUntil("all of the burst", () => heard.size === names + 2, { deadlineMs: 20_000 });
    assert.equal(reflector.size, names + 2);
    assert.ok(stub.slowReadersDropped > 0, "the stub did drop the reader");
    assert.equal(stub.requests.filter(Match.list).length, 1);
  }));
