import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Reflector, type ReflectorState } from "../../../lib/k8s/reflector.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { whileRunning } from "../../controllers/make.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { keepLog } from "../../support/logs.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";

const USUAL = {
  retain: { kind: "all" },
  parse: ({ metadata }: KubeObject): string => metadata.name,
  onChange: () => {},
} as const;

const openRun = async ({ fault, names = [] }: { readonly fault?: ApiError; readonly names?: readonly string[] }) => {
  const clock = new FakeClock();
  const cluster = new MemoryCluster();
  for (const name of names) await createConfig(cluster, name);
  const calls: MemoryCall[] = [];
  const log = keepLog();
  const api = cluster.client((call) => {
    calls.push(call);
    if (run.fault !== undefined) throw run.fault;
  });
  const reflector = new Reflector({ ...USUAL, api, resource: Resource.clusterConfigs, clock, log, name: "configs" });
  const warnings = (): number => log.lines.filter(({ level }) => level === "warn").length;
  const run = { clock, calls, cluster, reflector, warnings, fault };
  return run;
};

async function withRun(
  start: Parameters<typeof openRun>[0],
  play: (run: Awaited<ReturnType<typeof openRun>>) => Promise<void>,
): Promise<void> {
  const run = await openRun(start);
  await whileRunning(run, run.reflector, () => play(run));
}

async function createConfig(cluster: MemoryCluster, name: string): Promise<void> {
  const signal = new AbortController().signal;
  await cluster.client().create(Resource.clusterConfigs, { metadata: { name } }, { signal });
}

const UNAVAILABLE: readonly { readonly status: number; readonly state: ReflectorState }[] = [
  { status: 404, state: "missing" },
  { status: 403, state: "forbidden" },
];

for (const { status, state } of UNAVAILABLE) {
  Deno.test(`reflector: is ${state} on ${status}, tries every 30 s at most, says so once, and takes what appears later`, () =>
    withRun({ fault: new ApiError("no", { status }) }, async (run) => {
      await run.clock.advance(120_000);
      assert.deepEqual([run.reflector.state(), run.reflector.hasSynced(), run.warnings()], [state, false, 1]);
      const before = run.calls.length;
      await run.clock.advance(300_000);
      const tries = run.calls.length - before;
      assert.ok(tries >= 9 && tries <= 21, `${tries} tries in 300 s`);
      run.fault = undefined;
      await createConfig(run.cluster, "cluster");
      await run.clock.advance(30_000);
      assert.deepEqual([run.reflector.hasSynced(), ...run.reflector.values()], [true, "cluster"]);
    }));
}

Deno.test("reflector: keeps its copy on 403 after the first list, empties it when the kind is gone", () =>
  withRun({ names: ["cluster"] }, async (run) => {
    await run.clock.advance(0);
    assert.equal(run.reflector.size, 1);
    run.fault = new ApiError("no", { status: 403 });
    await run.clock.advance(100_000);
    assert.deepEqual([run.reflector.size, run.reflector.state()], [1, "synced"]);
    run.fault = new ApiError("no", { status: 404 });
    await run.clock.advance(60_000);
    assert.deepEqual([run.reflector.size, run.reflector.state()], [0, "missing"]);
  }));

Deno.test("reflector: tries every 5 s at most while the API server is away, and warns once", () =>
  withRun({}, async (run) => {
    await run.clock.advance(1_000);
    run.fault = new ApiError("away", { status: 0 });
    await run.clock.advance(90_000);
    const before = run.calls.length;
    await run.clock.advance(60_000);
    const tries = run.calls.length - before;
    assert.ok(tries >= 11 && tries <= 25, `${tries} tries in 60 s`);
    assert.deepEqual([run.warnings(), run.reflector.hasSynced()], [1, true]);
  }));

Deno.test("reflector: refusedForMs() counts refusals of list and watch, neither an outage nor a silent watch", () =>
  withRun({ fault: new ApiError("away", { status: 0 }) }, async (run) => {
    await run.clock.advance(20_000);
    assert.equal(run.reflector.refusedForMs(), 20_000);
    run.fault = undefined;
    await run.clock.advance(60_000);
    assert.equal(run.reflector.refusedForMs(), 0);
    run.fault = new ApiError("away", { status: 0 });
    await run.clock.advance(120_000);
    assert.equal(run.reflector.refusedForMs(), 0);
    run.fault = new ApiError("no", { status: 403 });
    await run.clock.advance(120_000);
    assert.ok(run.reflector.refusedForMs() >= 60_000, `${run.reflector.refusedForMs()} ms`);
    run.fault = undefined;
    await run.clock.advance(40_000);
    assert.equal(run.reflector.refusedForMs(), 0);
  }));

Deno.test("reflector: lists anew after a watch on which nothing came, not even a bookmark", () =>
  withRun({ names: ["cluster"] }, async (run) => {
    await run.clock.advance(80_000);
    const before = run.calls.filter(({ verb }) => verb === "list").length;
    run.cluster.putUnseen(Resource.clusterConfigs, { metadata: { name: "unheard" } });
    await run.clock.advance(20_000);
    assert.equal(run.calls.filter(({ verb }) => verb === "list").length, before + 1);
    assert.deepEqual([...run.reflector.values()], ["cluster", "unheard"]);
  }));

Deno.test("reflector: waits as long as a 429 asks for", () =>
  withRun({}, async (run) => {
    await run.clock.advance(0);
    run.fault = new ApiError("slow down", { status: 429, retryAfterMs: 20_000 });
    await run.clock.advance(91_000);
    const before = run.calls.length;
    await run.clock.advance(18_000);
    assert.equal(run.calls.length, before);
    await run.clock.advance(3_000);
    assert.equal(run.calls.length, before + 1);
  }));

Deno.test("reflector: synced() rejects with the signal's reason when that aborts before the first list is complete", () =>
  withRun({ fault: new ApiError("away", { status: 0 }) }, async (run) => {
    const waiting = new AbortController();
    const synced = run.reflector.synced(waiting.signal);
    waiting.abort(new Error("tired"));
    await assert.rejects(synced, { message: "tired" });
  }));

Deno.test("reflector: lists pods in small pages, since each may be as large as its creator likes", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const limits: unknown[] = [];
  const api = new MemoryCluster().client(({ verb, body }) => {
    if (verb === "list") limits.push(Object(body).limit);
  });
  const both = [Resource.pods, Resource.clusterConfigs].map((resource) =>
    new Reflector({ ...USUAL, api, clock, resource, log: silentLogger, name: resource.plural }).run(stop.signal)
  );
  await clock.advance(100);
  stop.abort();
  await Promise.all(both);
  assert.deepEqual(limits, [50, 500]);
});
