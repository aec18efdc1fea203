import assert from "node:assert/strict";
import { systemClock } from "../../../../../lib/clock.ts";
import { silentLogger } from "../../../../../lib/log.ts";
import { listenPlain } from "../../../../../playground/listen.ts";
import type { Notification } from "../../../../../lib/upgrades/decide/types/effects.ts";
import {
  type NotificationSink,
  type Notify,
  openEventSink,
  openLogSink,
  openNotifier,
  openWebhookSink,
} from "../../../../../lib/upgrades/outside/sinks/sink.ts";
import { openOcmStateSink, openServiceLogSink } from "../../../../../lib/upgrades/outside/sinks/ocm_sinks.ts";
import { keepLog } from "../../../../support/logs.ts";
import { MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import { makeConfig, makePlan } from "../../decide/make_plan.ts";
import { addPolicy, clusterId, EXTERNAL_ID, startOcm } from "../ocm_double.ts";
import { hastyClock, noticeOf, SIGNAL } from "../support.ts";

const SUBJECT = {
  apiVersion: "upgrade.managed.openshift.io/v1alpha1",
  kind: "UpgradeConfig",
  namespace: "openshift-managed-upgrade-operator",
  name: "managed-upgrade-config",
  uid: "uid-1",
};

const PLAN = makePlan();

const openRecord = () => {
  const kept = new Map<string, readonly string[]>();
  const record = {
    kept,
    refused: false,
    sinksOf: (id: string) => kept.get(id) ?? [],
    write: (id: string, sinks: readonly string[]) =>
      record.refused ? Promise.reject(new Error("no API server")) : Promise.resolve(void kept.set(id, sinks)),
  };
  return record;
};

const OPTIONS = { plan: PLAN, config: makeConfig(), record: openRecord(), signal: SIGNAL };
const STARTED = noticeOf("StateStarted");

function notifierOf(...sinks: readonly NotificationSink[]): Notify {
  return openNotifier({ sinks: () => Promise.resolve(sinks), observe: () => {} });
}

function flaky(name: string, failures: number): NotificationSink & { readonly sent: string[] } {
  const sent: string[] = [];
  let left = failures;
  return {
    name,
    sent,
    send: ({ id }) => {
      if (left-- > 0) return Promise.reject(new Error(`${name} is away`));
      sent.push(id);
      return Promise.resolve();
    },
  };
}

Deno.test("M-365 M-366 M-367 send() sends to every sink once, again only those that failed, and reports each result", async () => {
  const [good, bad] = [flaky("good", 0), flaky("bad", 2)];
  const results: string[] = [];
  const observe = (_: Notification, result: string): void => void results.push(result);
  const notify = openNotifier({ sinks: () => Promise.resolve([good, bad]), observe });
  await assert.rejects(notify(STARTED, OPTIONS), /Cannot send notification StateStarted: bad: bad is away/);
  await assert.rejects(notify(STARTED, OPTIONS));
  await notify(STARTED, OPTIONS);
  await notify(STARTED, OPTIONS);
  assert.deepEqual([good.sent.length, bad.sent.length], [1, 1]);
  assert.deepEqual(results, ["failed", "failed", "sent", "sent"]);
  await notify(noticeOf("StateCompleted"), OPTIONS);
  assert.equal(good.sent.length, 2);
});

Deno.test("N-017 an event is made once for a notification, whichever replica sends it, and a refused one is an error", async () => {
  const cluster = new MemoryCluster();
  const sink = () => openEventSink({ api: cluster.api, subject: SUBJECT, clock: systemClock });
  await sink().send(noticeOf("StateControlPlaneStartedSL", "The control plane is updated."), SIGNAL);
  await sink().send(noticeOf("StateControlPlaneStartedSL", "The control plane is updated."), SIGNAL);
  await sink().send(noticeOf("StateFailed"), SIGNAL);
  const events = [...cluster.objects.values()];
  const named = events.map(({ reason, type }) => `${type} ${reason}`);
  assert.deepEqual(named, ["Normal ControlPlaneStarted", "Warning Failed"]);
  const [event] = events;
  assert.equal(event?.message, "The control plane is updated.");
  assert.deepEqual(event?.involvedObject, SUBJECT);
  assert.deepEqual(event?.source, { component: "managed-upgrade-operator" });
  const api = cluster.client(refusing(503));
  const away = openEventSink({ api, subject: SUBJECT, clock: systemClock });
  await assert.rejects(away.send(STARTED, SIGNAL), /away/);
});

Deno.test("M-361 the log sink writes one line and never fails", async () => {
  const log = keepLog();
  await openLogSink(log).send(STARTED, SIGNAL);
  assert.deepEqual(log.lines.map(({ level }) => level), ["info"]);
  assert.match(JSON.stringify(log.lines), /StateStarted/);
  await openLogSink(silentLogger).send(STARTED, SIGNAL);
});

Deno.test("the webhook gets JSON with the id as its idempotency key, the same each time; its address stays secret", async () => {
  const bodies: unknown[] = [];
  let asked = 0;
  await using server = listenPlain(async (request) => {
    const { pathname, search } = new URL(request.url);
    assert.equal(pathname + search, "/hooks/s3cret?key=s3cret");
    bodies.push([request.headers.get("idempotency-key"), await request.json()]);
    return new Response(null, { status: ++asked < 2 ? 502 : 204 });
  });
  const common = { caCerts: [], clusterId, userAgent: "archway-test", clock: hastyClock() };
  const sink = openWebhookSink({ ...common, url: `${server.origin}/hooks/s3cret?key=s3cret` });
  const expected = /Cannot write to the webhook "127\.0\.0\.1:\d+\/\.\.\.": it answered with status 502\.$/;
  await assert.rejects(sink.send(STARTED, SIGNAL), expected);
  await sink.send(STARTED, SIGNAL);
  assert.deepEqual(bodies[1], [STARTED.id, { ...STARTED, clusterId: EXTERNAL_ID }]);
  assert.deepEqual(bodies[0], bodies[1]);
});

Deno.test("the policy's state is set once, only where it may follow, and needs its policy", async () => {
  await using double = startOcm("api");
  addPolicy(double, "other", { version: "4.16.4" });
  const sink = openOcmStateSink(double);
  await assert.rejects(sink.send(STARTED, SIGNAL), /it has no policy for version 4\.16\.3 at 2026-03-20T00:00:00Z/);
  addPolicy(double, "p1");
  const writes = (): number => double.seen.filter((line) => line.startsWith("PATCH")).length;
  const state = () => double.policies[1]?.state.value;
  await sink.send(STARTED, SIGNAL);
  await sink.send(STARTED, SIGNAL);
  assert.deepEqual([state(), writes()], ["started", 1]);
  await sink.send(noticeOf("StateControlPlaneStartedSL"), SIGNAL);
  assert.equal(writes(), 1, "the manager has no word for it");
  await sink.send(noticeOf("StateScaleSkipped", "No capacity."), SIGNAL);
  await sink.send(noticeOf("StateDelayed", "It will retry."), SIGNAL);
  assert.deepEqual([state(), writes()], ["delayed", 3]);
  await sink.send(noticeOf("StateCompleted"), SIGNAL);
  await sink.send(noticeOf("StateFailed"), SIGNAL);
  assert.deepEqual([state(), writes()], ["completed", 4]);
});

Deno.test("M-370 the service log gets one entry for a state, also when the first answer was lost", async () => {
  await using double = startOcm("api");
  const sink = openServiceLogSink({ client: double.client, clusterId, clock: systemClock });
  await sink.send(STARTED, SIGNAL);
  assert.deepEqual(double.seen, [], "a state without an entry costs no request");
  const failed = noticeOf("StateHealthCheckSL", "Health check: PDBHealthcheckFailed");
  // Taken, but the answer is lost on the way.
  const { intercept } = double;
  double.intercept = (request) => {
    if (request.method !== "POST") return undefined;
    double.intercept = intercept;
    const summary = "Cluster upgrade health check failed";
    double.logs.push({ summary, description: failed.description, timestamp: new Date().toISOString() });
    return new Response(null, { status: 504 });
  };
  await assert.rejects(sink.send(failed, SIGNAL), /status 504/);
  await sink.send(failed, SIGNAL);
  assert.equal(double.logs.length, 1);
  await sink.send({ ...failed, description: "Health check: another" }, SIGNAL);
  assert.equal(double.logs.length, 2);
  const { severity, service_name, log_type, internal_only, doc_references } = double.logs[1] ?? {};
  const said = [severity, service_name, log_type, internal_only, doc_references];
  const references = ["https://access.redhat.com/solutions/7081505"];
  assert.deepEqual(said, ["Info", "RedHat Managed Upgrade Notifications", "Cluster Updates", false, references]);
});

Deno.test("send() keeps what some sinks have in the record, so that the next leader sends to the others alone", async () => {
  const [good, bad] = [flaky("good", 0), flaky("bad", 1)];
  const options = { ...OPTIONS, record: openRecord() };
  await assert.rejects(notifierOf(good, bad)(STARTED, options), /bad: bad is away$/);
  assert.deepEqual([...options.record.kept], [[STARTED.id, ["good"]]]);
  await notifierOf(good, bad)(STARTED, options);
  assert.deepEqual([good.sent.length, bad.sent.length], [1, 1]);
});

Deno.test("send() writes nothing where every sink has it at once, and reports it when the record cannot be written", async () => {
  const options = { ...OPTIONS, record: openRecord() };
  await notifierOf(flaky("one", 0), flaky("two", 0))(STARTED, options);
  assert.equal(options.record.kept.size, 0);
  options.record.refused = true;
  const sending = notifierOf(flaky("one", 0), flaky("two", 1))(STARTED, options);
  await assert.rejects(sending, /two is away; no API server$/);
});

Deno.test("where the service log cannot be read, an entry is posted all the same, and once more after an answer that was lost", async () => {
  await using double = startOcm("agent");
  const send = notifierOf(openServiceLogSink({ client: double.client, clusterId, clock: systemClock }));
  let posts = 0;
  double.intercept = ({ method, url }) => {
    if (!url.includes("service_logs")) return undefined;
    if (method === "GET") return new Response(null, { status: 404 });
    posts += 1;
    return posts === 1 ? new Response(null, { status: 504 }) : undefined;
  };
  const notice = noticeOf("StateWorkerPlaneFinishedSL");
  await assert.rejects(send(notice, OPTIONS), /service log: .*status 504/);
  await send(notice, OPTIONS);
  assert.equal(posts, 2);
});
