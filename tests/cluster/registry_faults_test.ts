// A real registry behind a network that misbehaves: for each fault what an inspection says, within which time, and that another
// registry's images do not wait for it.
import assert from "node:assert/strict";
import type { FailureReason } from "../../lib/oci/errors.ts";
import type { Fault, FaultRule, RequestKind } from "./support/fault_plan.ts";
import { type FaultProxy, startFaultProxy } from "./support/fault_proxy.ts";
import { failureIn, flagsFor, openImages, platformsIn, type TestImages } from "./support/inspecting.ts";
import { type RealRegistry, type RegistryOptions, startRegistry } from "./support/registry.ts";
import { waitUntil } from "./support/wait.ts";

const IMAGE = { platforms: [{ architecture: "amd64" }, { architecture: "arm64" }] };
const SAID = "linux/amd64,linux/arm64";
const SECRET = { kind: "basic", username: "puller", password: "secret" } as const;
/** What one answer from loopback may take on a busy machine (ms): far below the waits that faults cause. */
const AT_ONCE_MS = 3_000;

interface Bed extends AsyncDisposable {
  readonly registry: RealRegistry;
  readonly proxy: FaultProxy;
  /** Another registry, and nothing is wrong with it. */
  readonly healthy: RealRegistry;
  readonly images: TestImages;
  inspect(name: string): ReturnType<TestImages["inspect"]>;
}

async function openBed(options: RegistryOptions = {}): Promise<Bed> {
  await using undo = new AsyncDisposableStack();
  const registry = undo.use(await startRegistry(options));
  const proxy = undo.use(await startFaultProxy({ upstream: registry }));
  const healthy = undo.use(await startRegistry());
  for (const to of [registry, healthy]) await to.push("team/app", "v1", IMAGE);
  const images = undo.use(await openImages([...flagsFor(proxy), ...flagsFor(healthy)]));
  const credentials = [{ scope: proxy.host, source: "secret team/pull", secret: SECRET }];
  const opened = undo.move();
  return {
    registry,
    proxy,
    healthy,
    images,
    inspect: (name) => images.inspect(`${proxy.host}/${name}`, { credentials }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function timed<T>(work: Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const begin = performance.now();
  return { result: await work, ms: performance.now() - begin };
}

interface Row {
  readonly fault: Fault;
  readonly on?: readonly RequestKind[];
  /** Default `transient`. */
  readonly kind?: "permanent";
  readonly reason: FailureReason;
  /** Bound of the whole inspection: a request's own limits (5 s to the headers, 7 s in all) and some slack (ms). */
  readonly withinMs?: number;
  /** `retryAfterMs` of the failure, rounded up to seconds. */
  readonly retryAfterSeconds?: number;
}

const ROWS: readonly Row[] = [
  { fault: { kind: "status", status: 500 }, reason: "ServerError" },
  { fault: { kind: "status", status: 502 }, reason: "ServerError" },
  { fault: { kind: "status", status: 503, retryAfterSeconds: 20 }, reason: "ServerError", retryAfterSeconds: 20 },
  { fault: { kind: "status", status: 429, retryAfterSeconds: 30 }, reason: "RateLimited", retryAfterSeconds: 30 },
  { fault: { kind: "status", status: 404 }, kind: "permanent", reason: "ManifestUnknown" },
  { fault: { kind: "status", status: 401 }, kind: "permanent", reason: "Unauthorized" },
  { fault: { kind: "reset" }, reason: "Unreachable" },
  { fault: { kind: "truncateBody" }, reason: "Unreachable" },
  { fault: { kind: "blackHole" }, reason: "Timeout", withinMs: 8_000 },
  { fault: { kind: "latency", ms: 60_000 }, reason: "Timeout", withinMs: 8_000 },
  { fault: { kind: "slowBody", chunkBytes: 1, everyMs: 200 }, reason: "Timeout", withinMs: 10_000 },
  { fault: { kind: "status", status: 503 }, on: ["token"], reason: "ServerError" },
  { fault: { kind: "wrongDigest" }, reason: "DigestMismatch" },
  { fault: { kind: "tamperBody" }, reason: "DigestMismatch" },
  { fault: { kind: "reset" }, on: ["token"], reason: "Unreachable" },
  { fault: { kind: "blackHole" }, on: ["token"], reason: "Timeout", withinMs: 8_000 },
];

for (const row of ROWS) {
  const { fault, on = ["manifestGet"], kind = "transient", reason, withinMs = AT_ONCE_MS } = row;
  const what = fault.kind === "status" ? `status ${fault.status}` : fault.kind;
  Deno.test(`registry faults: ${what} of ${on.join()} is ${kind} ${reason} in time, and delays no other registry`, async () => {
    await using bed = await openBed(on.includes("token") ? { auth: "token" } : {});
    bed.proxy.setFaults([{ fault, on }]);
    const failing = timed(bed.inspect("team/app:v1"));
    await waitUntil("the faulty one to be asked", () => bed.proxy.requests().some((seen) => on.includes(seen.kind)));
    const other = await timed(bed.images.inspect(`${bed.healthy.host}/team/app:v1`));
    assert.equal(platformsIn(other.result), SAID);
    assert.ok(other.ms < AT_ONCE_MS, `the healthy registry's image took ${Math.round(other.ms)} ms`);
    const { result, ms } = await failing;
    const failure = failureIn(result);
    assert.deepEqual([failure.kind, failure.reason, failure.registry], [kind, reason, bed.proxy.host]);
    assert.ok(ms < withinMs, `it took ${Math.round(ms)} ms`);
    const asked = failure.retryAfterMs === undefined ? undefined : Math.ceil(failure.retryAfterMs / 1_000);
    assert.equal(asked, row.retryAfterSeconds);
    assert.equal(bed.images.hostState(bed.healthy.host)?.lastFailure, undefined);
  });
}

/** What passes by itself: the inspection waits for it and succeeds. */
const BEARABLE: readonly (readonly [name: string, rule: FaultRule, withinMs: number])[] = [
  ["answers that take a second", { fault: { kind: "latency", ms: 1_000 }, on: ["manifestGet"] }, 5_000],
  ["a body in small pieces", { fault: { kind: "slowBody", chunkBytes: 64, everyMs: 5 }, on: ["manifestGet"] }, 5_000],
  ["a redirect of the manifest", { fault: { kind: "redirect" }, on: ["manifestGet"] }, AT_ONCE_MS],
];

for (const [name, rule, withinMs] of BEARABLE) {
  Deno.test(`registry faults: ${name} cost time only`, async () => {
    await using bed = await openBed();
    bed.proxy.setFaults([rule]);
    const { result, ms } = await timed(bed.inspect("team/app:v1"));
    assert.equal(platformsIn(result), SAID);
    assert.ok(ms < withinMs, `it took ${Math.round(ms)} ms`);
  });
}

for (const auth of ["htpasswd", "token"] as const) {
  Deno.test(`registry faults: storage that a registry redirects to sees no credential (${auth})`, async () => {
    await using bed = await openBed({ auth });
    await bed.registry.push("team/single", "v1", { single: { architecture: "s390x" } });
    bed.proxy.setFaults([{ fault: { kind: "redirect" }, on: ["manifestGet", "blobGet"] }]);
    const report = await bed.inspect("team/single:v1");
    assert.equal(platformsIn(report), "linux/s390x");
    assert.equal(report.credentialSource, "secret team/pull");
    assert.ok(bed.proxy.requests().some(({ hadAuthorization }) => hadAuthorization));
    assert.deepEqual(bed.proxy.storageRequests().map(({ hadAuthorization }) => hadAuthorization), [false, false]);
  });
}

Deno.test("registry faults: 60 images of a dead registry delay none of 20 images of another", async () => {
  await using bed = await openBed();
  const { proxy, healthy, images } = bed;
  const names = Array.from({ length: 20 }, (_, number) => `team/app-${number}`);
  for (const name of names) await healthy.push(name, "v1", IMAGE);
  proxy.setFaults([{ fault: { kind: "blackHole" } }]);
  const dead = Array.from({ length: 60 }, (_, number) => bed.inspect(`team/dead-${number}:v1`));
  await waitUntil("the dead registry to be asked", () => proxy.requests().length > 0);
  const { result, ms } = await timed(
    Promise.all(names.map((name) => images.inspect(`${healthy.host}/${name}:v1`))),
  );
  assert.deepEqual(new Set(result.map(platformsIn)), new Set([SAID]));
  assert.ok(ms < AT_ONCE_MS, `the healthy registry's images took ${Math.round(ms)} ms`);
  const failures = (await Promise.all(dead)).map(failureIn);
  assert.deepEqual(new Set(failures.map(({ kind }) => kind)), new Set(["transient"]));
  // The first ones time out; the circuit then spares everybody else the wait, and the registry the requests.
  assert.ok(proxy.requests().length <= 20, `${proxy.requests().length} requests`);
  assert.notEqual(images.hostState(proxy.host)?.circuit, "closed");
});

Deno.test("registry faults: a registry that comes back is asked again within seconds, and its state reports it", async () => {
  await using bed = await openBed();
  const { proxy, images } = bed;
  proxy.setFaults([{ fault: { kind: "reset" } }]);
  await Promise.all(Array.from({ length: 10 }, (_, number) => bed.inspect(`team/app-${number}:v1`)));
  assert.equal(images.hostState(proxy.host)?.circuit, "open");
  const refused = failureIn(await bed.inspect("team/app:v1"));
  assert.deepEqual([refused.kind, refused.reason], ["transient", "CircuitOpen"]);
  proxy.setFaults([]);
  await waitUntil("the image", async () => (await bed.inspect("team/app:v1")).inspection.kind === "platforms", {
    deadlineMs: 10_000,
  });
  const state = images.hostState(proxy.host);
  assert.equal(state?.circuit, "closed");
  assert.equal(state.lastFailure?.reason, "Unreachable");
  assert.ok((state.lastSuccessAtMs ?? 0) > 0);
});
