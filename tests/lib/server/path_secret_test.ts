import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { SecretStore } from "../../../lib/k8s/secret_store.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openPathSecret, OVERLAP_MS, PATH_SECRET, type PathSecret, READ_MS } from "../../../lib/server/path_secret.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { keepLog } from "../../support/logs.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";

const NAMESPACE = "archway-system";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const openBench = (refuse: () => void = () => {}) => {
  const cluster = new MemoryCluster();
  const clock = new FakeClock({ nowMs: 10 * DAY + DAY / 2 });
  const log = keepLog();
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  let made = 0;
  return {
    clock,
    log,
    open: async (skewMs = 0): Promise<PathSecret> => {
      const identity = { namespace: NAMESPACE, name: PATH_SECRET, type: "Opaque" };
      const replica = await openPathSecret({
        store: new SecretStore(cluster.client(refuse), identity),
        clock: {
          nowMs: () => clock.nowMs() + skewMs,
          monotonicMs: () => clock.monotonicMs(),
          sleep: (ms, signal) => clock.sleep(ms, signal),
        },
        log,
        makeSecret: () => `${"s".repeat(40)}${made++}`,
      }, stop.signal);
      running.push(replica.run(stop.signal));
      return replica;
    },
    deleteSecret: () =>
      cluster.client().delete(Resource.secrets, { namespace: NAMESPACE, name: PATH_SECRET }, { signal: stop.signal }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await clock.advance(MINUTE);
      await Promise.all(running);
      assert.doesNotMatch(JSON.stringify(log.lines), /sssss/);
    },
  };
};

Deno.test("openPathSecret() gives all replicas the same paths, each route an unguessable segment of its own", async () => {
  await using bench = openBench();
  const replicas = await Promise.all([bench.open(), bench.open(), bench.open()]);
  const paths = new Set(replicas.map((replica) => `${replica.pathOf("/convert")} ${replica.pathOf("/other")}`));
  assert.match([...paths].join("\n"), /^\/([0-9a-f]{64})\/convert \/(?!\1)[0-9a-f]{64}\/other$/);
});

Deno.test("openPathSecret() changes a path every day: accepted everywhere before, refused a quarter of an hour later", async () => {
  await using bench = openBench();
  const replicas = [await bench.open(), await bench.open(OVERLAP_MS - MINUTE), await bench.open(MINUTE - OVERLAP_MS)];
  const leader = replicas[0] ?? assert.fail();
  const old = leader.pathOf("/convert") ?? assert.fail();
  assert.deepEqual(replicas.map((replica) => replica.acceptedPaths("/convert")), replicas.map(() => [old]));
  await bench.clock.advance(DAY / 2 - 1);
  assert.equal(leader.pathOf("/convert"), old);
  assert.ok(replicas.every((replica) => replica.acceptedPaths("/convert").includes(old)));
  await bench.clock.advance(1_000);
  const next = leader.pathOf("/convert") ?? assert.fail();
  assert.notEqual(next, old);
  assert.ok(replicas.every((replica) => replica.acceptedPaths("/convert").includes(next)));
  assert.ok(leader.acceptedPaths("/convert").includes(old));
  await bench.clock.advance(OVERLAP_MS);
  assert.deepEqual(leader.acceptedPaths("/convert"), [next]);
});

Deno.test("openPathSecret() accepts on each replica what another one makes, however their clocks differ within the overlap", async () => {
  await using bench = openBench();
  const pairs: PathSecret[] = [];
  for (const skewMs of [-OVERLAP_MS, -MINUTE, 0, MINUTE, OVERLAP_MS]) pairs.push(await bench.open(skewMs));
  const base = await bench.open();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2 * 60 }), async (minutes) => {
      await bench.clock.advance(minutes * MINUTE);
      for (const other of pairs) {
        assert.ok(base.acceptedPaths("/x").includes(other.pathOf("/x") ?? ""));
        assert.ok(other.acceptedPaths("/x").includes(base.pathOf("/x") ?? ""));
        assert.ok(base.acceptedPaths("/x").length <= 2);
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("openPathSecret() replaces a deleted secret: every replica accepts the paths of the new one before any makes them", async () => {
  await using bench = openBench();
  const [one, two] = [await bench.open(), await bench.open()];
  const old = one.pathOf("/convert");
  await bench.deleteSecret();
  await bench.clock.advance(MINUTE);
  for (const replica of [one, two]) {
    assert.equal(replica.pathOf("/convert"), old);
    assert.equal(replica.acceptedPaths("/convert").length, 2);
  }
  await bench.clock.advance(READ_MS);
  const next = one.pathOf("/convert");
  assert.notEqual(next, old);
  assert.deepEqual([one, two].map((replica) => replica.acceptedPaths("/convert")), [[next], [next]]);
});

Deno.test("openPathSecret() has no paths while it may not keep the Secret", async () => {
  await using bench = openBench(() => {
    throw new ApiError("Cannot get secrets: forbidden.", { status: 403, reason: "Forbidden" });
  });
  const replica = await bench.open();
  assert.equal(replica.pathOf("/convert"), undefined);
  assert.deepEqual(replica.acceptedPaths("/convert"), []);
  assert.match(JSON.stringify(bench.log.lines), /keep the paths of the manifests/);
});
