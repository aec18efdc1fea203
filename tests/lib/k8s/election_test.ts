import assert from "node:assert/strict";
import { untilAborted } from "../../../lib/clock.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Election, LEASE_TIMING, type LeaseView } from "../../../lib/k8s/election.ts";
import type { LeaderHealth } from "../../../lib/k8s/lease_lock.ts";
import { type KubeObject, Resource, resourcePath } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { LEADER_IMPAIRMENT } from "../../../lib/names.ts";
import { LEADER_SILENCE_MS } from "../../../lib/operator/decide/gating_health.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { keepLog } from "../../support/logs.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { noAnswer } from "../../support/until.ts";

const LEASE = { namespace: "archway", name: "leader" } as const;
const PATH = resourcePath(Resource.leases, LEASE);

Deno.test("LEASE_TIMING lets another replica lead within 8 s, two durations before the gating stops", () => {
  const { durationMs, retryMs, renewDeadlineMs } = LEASE_TIMING;
  const takeOverMs = durationMs + 2 * retryMs;
  assert.ok(takeOverMs <= 8_000, `${takeOverMs} ms`);
  assert.ok(takeOverMs + 2 * durationMs <= LEADER_SILENCE_MS);
  assert.ok(renewDeadlineMs + retryMs < durationMs, "who has lost it stops first");
});

class Replica {
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  /** What stands between this replica and the API server. */
  fault: ((call: MemoryCall) => Promise<void> | void) | undefined;
  view: LeaseView | undefined;
  terms = 0;
  isLeading = false;
  state: LeaderHealth = { kind: "healthy" };

  constructor(identity: string, { clock, cluster }: { readonly clock: FakeClock; readonly cluster: MemoryCluster }) {
    const api = cluster.client((call) => this.fault?.(call));
    const election = new Election({ ...LEASE, api, identity, clock, log: silentLogger });
    election.onChange((view) => void (this.view = view));
    this.running = election.run((signal) => this.#lead(signal), this.stop.signal, () => this.state);
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.terms++;
    this.isLeading = true;
    await untilAborted(signal);
    this.isLeading = false;
  }
}

const openReplicas = () => {
  const [clock, cluster] = [new FakeClock(), new MemoryCluster()];
  const replicas: Replica[] = [];
  const start = (id: string): Replica => {
    const replica = new Replica(id, { clock, cluster });
    replicas.push(replica);
    return replica;
  };
  /** Starts the leader `a`, and `b` right after it. */
  const contend = async (): Promise<readonly [Replica, Replica]> => {
    const a = start("a");
    await clock.advance(100);
    return [a, start("b")];
  };
  const dispose = async (): Promise<void> => {
    for (const { stop } of replicas) stop.abort();
    await clock.advance(20_000);
    await Promise.all(replicas.map(({ running }) => running));
  };
  return { clock, cluster, start, contend, [Symbol.asyncDispose]: dispose };
};

async function withReplicas(play: (bed: ReturnType<typeof openReplicas>) => Promise<void>): Promise<void> {
  await using bed = openReplicas();
  await play(bed);
}

function leaseIn(cluster: MemoryCluster): KubeObject {
  return cluster.objects.get(PATH) ?? assert.fail("no lease");
}

function specOf(cluster: MemoryCluster): Record<string, unknown> {
  return Object(leaseIn(cluster)["spec"]);
}

const away = (): never => {
  throw new ApiError("away", { status: 0 });
};

const hang = ({ signal }: MemoryCall): Promise<void> => noAnswer(signal);

Deno.test("Election.run() makes one of two contenders the leader and lets the other see it", () =>
  withReplicas(async ({ clock, cluster, contend }) => {
    const [a, b] = await contend();
    await clock.advance(60_000);
    assert.deepEqual([a.isLeading, a.view?.isLeader, a.view?.holder], [true, true, "a"]);
    assert.deepEqual([b.isLeading, b.view?.isLeader, b.view?.holder], [false, false, "a"]);
    const silentMs = clock.monotonicMs() - (b.view?.lastRenewObservedMs ?? 0);
    assert.ok(silentMs <= 5_000, `the follower heard of the leader ${silentMs} ms ago`);
    const { leaseDurationSeconds, leaseTransitions, renewTime } = specOf(cluster);
    assert.deepEqual([leaseDurationSeconds, leaseTransitions], [6, 0]);
    assert.match(String(renewTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  }));

Deno.test("Election.run() shows every replica what the leader cannot do, also while the next one cannot say yet", () =>
  withReplicas(async ({ clock, contend }) => {
    const [a, b] = await contend();
    a.state = { kind: "impaired", impairment: "CannotWatchPods" };
    await clock.advance(10_000);
    assert.deepEqual([a.view?.impairment, b.view?.impairment], ["CannotWatchPods", "CannotWatchPods"]);
    b.state = { kind: "unproven" };
    a.stop.abort();
    await clock.advance(10_000);
    assert.deepEqual([b.isLeading, b.view?.impairment], [true, "CannotWatchPods"]);
    b.state = { kind: "healthy" };
    await clock.advance(5_000);
    assert.equal(b.view?.impairment, undefined);
  }));

Deno.test("Election.run() begins a term with what the last leader could not do, whatever it could itself before", () =>
  withReplicas(async ({ clock, contend }) => {
    const [a, b] = await contend();
    a.state = { kind: "impaired", impairment: "CannotWatchPods" };
    await clock.advance(5_000);
    const written: unknown[] = [];
    b.fault = ({ verb, body }) => void (verb === "replace" && written.push(Object(body).metadata.annotations));
    a.stop.abort();
    await clock.advance(5_000);
    assert.deepEqual([written[0], written[1]], [{ [LEADER_IMPAIRMENT]: "CannotWatchPods" }, {}]);
  }));

Deno.test("Election.run() shows why a replica cannot take the Lease for as long as that is so", () =>
  withReplicas(async ({ clock, start }) => {
    const a = start("a");
    await clock.advance(5_000);
    assert.deepEqual([a.view?.isLeader, a.view?.refusal], [true, undefined]);
    a.fault = ({ verb }) => {
      if (verb === "replace") throw new ApiError("may not update leases", { status: 403 });
    };
    await clock.advance(10_000);
    assert.deepEqual([a.view?.isLeader, a.view?.refusal], [false, "may not update leases"]);
    a.fault = undefined;
    await clock.advance(10_000);
    assert.deepEqual([a.view?.isLeader, a.view?.refusal], [true, undefined]);
  }));

Deno.test("Election.run() hands over within seconds when the leader shuts down", () =>
  withReplicas(async ({ clock, cluster, contend }) => {
    const [a, b] = await contend();
    await clock.advance(5_000);
    a.stop.abort();
    await a.running;
    assert.deepEqual([a.isLeading, specOf(cluster)["holderIdentity"]], [false, ""]);
    await clock.advance(2_500);
    assert.deepEqual([b.isLeading, specOf(cluster)["leaseTransitions"]], [true, 1]);
  }));

Deno.test("Election.run() stops leading before another may start when the API is lost, and takes part again afterwards", () =>
  withReplicas(async ({ clock, contend }) => {
    const [a, b] = await contend();
    await clock.advance(10_000);
    a.fault = away;
    let overlapMs = 0;
    let deadMs = 0;
    for (let ms = 0; ms < 30_000; ms += 250) {
      await clock.advance(250);
      if (a.isLeading && b.isLeading) overlapMs += 250;
      if (!a.isLeading && !b.isLeading) deadMs += 250;
    }
    assert.equal(overlapMs, 0);
    assert.ok(deadMs < 5_000, `nobody led for ${deadMs} ms`);
    assert.deepEqual([a.isLeading, b.isLeading], [false, true]);
    a.fault = undefined;
    b.stop.abort();
    await b.running;
    await clock.advance(3_000);
    assert.deepEqual([a.isLeading, a.terms], [true, 2]);
  }));

Deno.test("Election.run() stops leading in time when requests hang instead of failing", () =>
  withReplicas(async ({ clock, start }) => {
    const a = start("a");
    await clock.advance(5_000);
    a.fault = hang;
    await clock.advance(4_500);
    assert.equal(a.isLeading, false);
    a.fault = undefined;
    await clock.advance(10_000);
    assert.equal(a.isLeading, true, "a single replica leads again without a restart");
  }));

Deno.test("Election.run() survives a blip shorter than the renew deadline", () =>
  withReplicas(async ({ clock, start }) => {
    const a = start("a");
    await clock.advance(4_000);
    a.fault = away;
    await clock.advance(2_500);
    a.fault = undefined;
    await clock.advance(20_000);
    assert.deepEqual([a.isLeading, a.terms], [true, 1]);
  }));

Deno.test("Election.run() does not rely on clocks: a lease renewed by a holder whose clock is an hour behind is held", () =>
  withReplicas(async ({ clock, cluster, start }) => {
    const a = start("a");
    await clock.advance(100);
    a.stop.abort();
    await a.running;
    const renew = (seconds: number): void => {
      const renewTime = new Date(clock.nowMs() - 3_600_000 + seconds).toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "foreign", leaseDurationSeconds: 15, renewTime, leaseTransitions: 4 };
      cluster.objects.set(PATH, { ...leaseIn(cluster), spec });
    };
    renew(0);
    const b = start("b");
    for (let n = 1; n < 15; n++) {
      await clock.advance(2_000);
      renew(n);
    }
    assert.deepEqual([b.isLeading, b.view?.holder], [false, "foreign"]);
    await clock.advance(20_000);
    assert.equal(b.isLeading, true, "taken when it was not renewed for its duration");
    assert.equal(specOf(cluster)["leaseTransitions"], 5);
  }));

Deno.test("Election.run() says once which other program holds the lease, waits as long as that one says, and takes it when it is given up", async () => {
  const [clock, cluster, stop] = [new FakeClock(), new MemoryCluster(), new AbortController()];
  const log = keepLog();
  /** As client-go writes it. */
  const write = (holderIdentity: string, leaseDurationSeconds: number): void => {
    const renewTime = new Date(clock.nowMs()).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity, leaseDurationSeconds, acquireTime: renewTime, renewTime, leaseTransitions: 3 };
    cluster.put(Resource.leases, { metadata: { ...LEASE }, spec });
  };
  const holder = "operator-6d9f7c9d5b-abcde_5f0c1f0e-8c3a-4a57-9c54-0f6b4d7a2e11";
  write(holder, 15);
  const election = new Election({ ...LEASE, api: cluster.client(), identity: "a", clock, log });
  const running = election.run(untilAborted, stop.signal);
  await clock.advance(14_000);
  write(holder, 15);
  await clock.advance(14_000);
  assert.equal(election.view().isLeader, false);
  const told = log.lines.filter(({ level }) => level === "info");
  assert.deepEqual(told, [{ level: "info", message: "another holds the lease, waiting", fields: { holder } }]);
  write("", 1);
  await clock.advance(2_500);
  assert.deepEqual([election.view().isLeader, specOf(cluster)["leaseTransitions"]], [true, 4]);
  stop.abort();
  await clock.advance(5_000);
  await running;
});

Deno.test("Election.run() ends its term at once when another has taken the lease", () =>
  withReplicas(async ({ clock, cluster, start }) => {
    const a = start("a");
    await clock.advance(3_000);
    const known = leaseIn(cluster);
    const metadata = { ...known.metadata, resourceVersion: "stolen" };
    cluster.objects.set(PATH, { ...known, metadata, spec: { ...Object(known["spec"]), holderIdentity: "thief" } });
    await clock.advance(4_500);
    assert.deepEqual([a.isLeading, a.view?.isLeader, a.view?.holder], [false, false, "thief"]);
  }));

Deno.test("Election.run() keeps leading when an unrelated writer touches the lease", () =>
  withReplicas(async ({ clock, cluster, start }) => {
    const a = start("a");
    await clock.advance(3_000);
    const known = leaseIn(cluster);
    const metadata = { ...known.metadata, resourceVersion: "touched", labels: { team: "x" } };
    cluster.objects.set(PATH, { ...known, metadata });
    await clock.advance(30_000);
    assert.deepEqual([a.isLeading, a.terms], [true, 1]);
    assert.deepEqual(leaseIn(cluster).metadata.labels, { team: "x" }, "unknown fields survive");
  }));

Deno.test("Election.run() leads again after `lead` has failed, having let others in", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let terms = 0;
  const lead = (): Promise<void> => {
    terms++;
    return Promise.reject(new Error("broken"));
  };
  const api = new MemoryCluster().client();
  const running = new Election({ ...LEASE, api, identity: "a", clock, log: silentLogger }).run(lead, stop.signal);
  await clock.advance(10_000);
  assert.ok(terms >= 6 && terms <= 11, `${terms} terms in 10 s`);
  stop.abort();
  await running;
});

Deno.test("Election.run() ends at shutdown even when the lease cannot be given up", () =>
  withReplicas(async ({ clock, start }) => {
    const a = start("a");
    await clock.advance(3_000);
    a.fault = hang;
    a.stop.abort();
    await clock.advance(2_100);
    await a.running;
    assert.equal(a.isLeading, false);
  }));

Deno.test("Election.run() reports until when no other replica may lead, and no longer once the Lease is lost", () =>
  withReplicas(async ({ clock, start }) => {
    const a = start("a");
    await clock.advance(1_000);
    const heldUntilMs = a.view?.heldUntilMs ?? 0;
    assert.ok(heldUntilMs >= 6_000 && heldUntilMs <= clock.monotonicMs() + 6_000, String(heldUntilMs));
    await clock.advance(4_000);
    assert.ok((a.view?.heldUntilMs ?? 0) > heldUntilMs, "a renewal prolongs it");
    a.fault = away;
    await clock.advance(12_000);
    assert.deepEqual([a.view?.isLeader, a.view?.heldUntilMs], [false, undefined]);
  }));
