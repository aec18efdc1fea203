// The path secret of several replicas on one Secret in memory, with time that the test owns.
import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/errors.ts";
import { SecretRecord } from "../../../../lib/k8s/secret_record.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openSharedPathSecret, type SharedPathSecret } from "../../../../lib/server/path_secret/shared_path_secret.ts";
import { PATH_SECRET, PATH_TERMS } from "../../../../lib/server/path_secret/state.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";

const NAMESPACE = "archway-system";
const TARGET = { namespace: NAMESPACE, name: PATH_SECRET };
const MINUTE = 60_000;

interface Bench {
  readonly cluster: MemoryCluster;
  readonly clock: FakeClock;
  readonly logged: string[];
  open(): Promise<SharedPathSecret>;
  signal: AbortSignal;
}

function makeBench(refuse: () => void = () => {}): Bench & { readonly stop: AbortController } {
  const cluster = new MemoryCluster();
  const clock = new FakeClock();
  const logged: string[] = [];
  const note = (message: string, fields: unknown): void => void logged.push(message + JSON.stringify(fields));
  const stop = new AbortController();
  let made = 0;
  return {
    cluster,
    clock,
    logged,
    stop,
    signal: stop.signal,
    open: () =>
      openSharedPathSecret({
        record: new SecretRecord(cluster.client(refuse), { namespace: NAMESPACE, name: PATH_SECRET, type: "Opaque" }),
        terms: PATH_TERMS,
        clock,
        log: { ...silentLogger, info: note, warn: note },
        makeSecret: () => `${"s".repeat(40)}${made++}`,
      }, stop.signal),
  };
}

Deno.test("openSharedPathSecret() gives all replicas the same paths, whoever is first", async () => {
  const bench = makeBench();
  const replicas = await Promise.all([bench.open(), bench.open(), bench.open()]);
  const paths = replicas.map((replica) => replica.pathOf("/convert"));
  assert.ok(paths[0] !== undefined && new Set(paths).size === 1);
});

Deno.test("openSharedPathSecret() rotates: accepted everywhere, then used, then the old one is refused", async () => {
  const bench = makeBench();
  const [one, two] = [await bench.open(), await bench.open()];
  const old = one.pathOf("/convert") ?? "";
  const carried = { path: old };
  const isCarried = (pathOf: (route: string) => string): boolean => pathOf("/convert") === carried.path;
  const running = [one, two].map((replica) => replica.run(isCarried, bench.signal));
  await bench.clock.advance(PATH_TERMS.lifetimeMs + 2 * MINUTE);
  assert.deepEqual([one, two].map((replica) => replica.acceptedPaths("/convert").length), [2, 2]);
  assert.deepEqual([one, two].map((replica) => replica.pathOf("/convert")), [old, old]);
  await bench.clock.advance(PATH_TERMS.overlapMs + 2 * MINUTE);
  const next = one.pathOf("/convert") ?? "";
  assert.notEqual(next, old);
  assert.equal(two.pathOf("/convert"), next);
  assert.ok(one.acceptedPaths("/convert").includes(old));
  // As long as a configuration carries the old path, it stays accepted.
  await bench.clock.advance(PATH_TERMS.graceMs * 4);
  assert.ok(two.acceptedPaths("/convert").includes(old));
  carried.path = next;
  await bench.clock.advance(2 * MINUTE);
  assert.deepEqual(one.acceptedPaths("/convert"), [next]);
  assert.deepEqual(two.acceptedPaths("/convert"), [next]);
  bench.stop.abort();
  await bench.clock.advance(MINUTE);
  await Promise.all(running);
  assert.doesNotMatch(bench.logged.join(), /sssss/);
});

Deno.test("openSharedPathSecret() keeps its paths when the Secret is deleted, and replaces them with overlap", async () => {
  const bench = makeBench();
  const replica = await bench.open();
  const old = replica.pathOf("/convert") ?? "";
  const running = replica.run(() => true, bench.signal);
  await bench.cluster.client().delete(Resource.secrets, TARGET, { signal: bench.signal });
  await bench.clock.advance(2 * MINUTE);
  assert.equal(replica.pathOf("/convert"), old);
  assert.equal(replica.acceptedPaths("/convert").length, 2);
  bench.stop.abort();
  await bench.clock.advance(MINUTE);
  await running;
});

Deno.test("openSharedPathSecret() has no paths while it may not keep the Secret", async () => {
  const bench = makeBench(() => {
    throw new ApiError("Cannot get secrets: forbidden.", { status: 403, reason: "Forbidden" });
  });
  const replica = await bench.open();
  assert.equal(replica.pathOf("/convert"), undefined);
  assert.deepEqual(replica.acceptedPaths("/convert"), []);
  assert.match(bench.logged.join(), /keep the paths of the manifests/);
});
