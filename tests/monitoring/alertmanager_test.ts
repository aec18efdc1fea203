import assert from "node:assert/strict";
import {
  controlPlaneSilenceEffects,
  endSilenceEffects,
  isAnySilenceActive,
  SILENCE_AUTHOR,
  workerSilenceEffects,
} from "../../lib/upgrades/decide/silences.ts";
import type { Effect } from "../../lib/upgrades/decide/types/effects.ts";
import type { Upstream } from "../../lib/upgrades/outside/http/upstream.ts";
import { createSilence, endSilence, listSilences } from "../../lib/upgrades/outside/monitoring/alerts.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { type MonitoringServer, openUpstream, startAlertmanager } from "./support.ts";

function test(name: string, fn: (store: Upstream, server: MonitoringServer) => Promise<void>): void {
  Deno.test(name, { ignore: lacks("alertmanager") }, async () => {
    await using server = await startAlertmanager();
    using store = openUpstream(server, "Alertmanager");
    await fn(store, server);
  });
}

const SIGNAL = new AbortController().signal;
const HOUR_MS = 3_600_000;

async function carryOut(store: Upstream, effects: readonly Effect[]): Promise<number> {
  for (const effect of effects) {
    if (effect.kind === "createSilence") await createSilence(store, { ...effect.silence, nowMs: Date.now() }, SIGNAL);
    else if (effect.kind === "endSilence") await endSilence(store, effect.id, SIGNAL);
    else assert.fail(effect.kind);
  }
  return effects.length;
}

/** Of those that hold. */
async function comments(store: Upstream): Promise<readonly string[]> {
  return (await listSilences(store, SIGNAL)).filter(({ state }) => state !== "expired").map(({ comment }) => comment)
    .toSorted();
}

/** All members, as Alertmanager itself returns them. */
async function rawSilences(upstream: Upstream): Promise<readonly Record<string, unknown>[]> {
  return JSON.parse((await upstream.send({ method: "GET", path: "/api/v2/silences" }, SIGNAL)).text);
}

const PLAN = { version: "4.16.3", criticals: ["etcdMembersDown", "ClusterOperatorDown"] };
const ALL = `Silence for OSD control plane upgrade to version 4.16.3`;
const CRITICAL = `Silence for critical alerts during OSD control plane upgrade to version 4.16.3`;

test("M-350 a real Alertmanager gets two silences for the control plane, with the matchers of the original, and no third", async (store) => {
  const endsAtMs = Date.now() + HOUR_MS;
  const opened = controlPlaneSilenceEffects({ ...PLAN, endsAtMs }, await listSilences(store, SIGNAL));
  assert.equal(await carryOut(store, opened), 2);
  assert.deepEqual(await comments(store), [CRITICAL, ALL].toSorted());
  assert.deepEqual(controlPlaneSilenceEffects({ ...PLAN, endsAtMs }, await listSilences(store, SIGNAL)), []);
  const raw = await rawSilences(store);
  assert.equal(raw.length, 2);
  const silence = raw.find(({ comment }) => comment === ALL);
  assert.deepEqual([silence?.createdBy, silence?.endsAt], [SILENCE_AUTHOR, new Date(endsAtMs).toISOString()]);
  assert.deepEqual(silence?.matchers, [
    { isEqual: true, isRegex: true, name: "severity", value: "(warning|info)" },
    { isEqual: true, isRegex: true, name: "namespace", value: "(^openshift.*|^kube.*|^redhat.*|^default$)" },
  ]);
  assert.equal(isAnySilenceActive(await listSilences(store, SIGNAL)), true);
});

test("M-352 M-353 M-354 a real Alertmanager has one silence for the workers, of the number that is left", async (store) => {
  const openFor = async (remaining: number): Promise<number> => {
    const window = { version: "4.16.3", remaining, endsAtMs: Date.now() + HOUR_MS, workerStartMs: Date.now() };
    return await carryOut(store, workerSilenceEffects(window, await listSilences(store, SIGNAL)));
  };
  assert.deepEqual([await openFor(5), await openFor(5), await openFor(3)], [1, 0, 2]);
  const left = "Silence for OSD worker node upgrade to version 4.16.3 with remaining 3 nodes";
  assert.deepEqual(await comments(store), [left]);
});

test("M-355 M-356 N-019 a real Alertmanager loses the operator's silences alone, and takes the window again after they expired", async (store) => {
  assert.equal(await carryOut(store, endSilenceEffects("all", await listSilences(store, SIGNAL))), 0);
  const endsAtMs = Date.now() + HOUR_MS;
  const matchers = [{ name: "alertname", value: "Watchdog", isRegex: false, isEqual: true }];
  const times = { startsAt: new Date().toISOString(), endsAt: new Date(endsAtMs).toISOString() };
  const foreign = { matchers, ...times, createdBy: "someone", comment: ALL };
  await store.send({ method: "POST", path: "/api/v2/silences", body: foreign }, SIGNAL);
  const window = { ...PLAN, endsAtMs };
  await carryOut(store, controlPlaneSilenceEffects(window, await listSilences(store, SIGNAL)));
  const [first] = await listSilences(store, SIGNAL);
  assert.equal(await carryOut(store, endSilenceEffects("controlPlane", await listSilences(store, SIGNAL))), 2);
  assert.deepEqual(await comments(store), []);
  const active = (await rawSilences(store)).filter(({ status }) => Object(status).state === "active");
  assert.deepEqual(active.map(({ createdBy }) => createdBy), ["someone"]);
  // One that is over already, and one that never was.
  await endSilence(store, first?.id ?? "", SIGNAL);
  await endSilence(store, "00000000-0000-4000-8000-000000000000", SIGNAL);
  assert.equal(await carryOut(store, controlPlaneSilenceEffects(window, await listSilences(store, SIGNAL))), 2);
  assert.deepEqual(await comments(store), [CRITICAL, ALL].toSorted());
});

test("M-352 a worker window that ran out by itself in a real Alertmanager stays out", async (store) => {
  const workerStartMs = Date.now();
  const window = { version: "4.16.3", remaining: 2, endsAtMs: workerStartMs + 1_500, workerStartMs };
  assert.equal(await carryOut(store, workerSilenceEffects(window, await listSilences(store, SIGNAL))), 1);
  await waitUntil("the silence to run out", async () => !isAnySilenceActive(await listSilences(store, SIGNAL)));
  assert.deepEqual(workerSilenceEffects(window, await listSilences(store, SIGNAL)), []);
});

test("N-019 a silence that ran out by itself in a real Alertmanager does not keep the next one from being made", async (store) => {
  const soon = { version: "4.16.3", criticals: [], endsAtMs: Date.now() + 1_500 };
  assert.equal(await carryOut(store, controlPlaneSilenceEffects(soon, await listSilences(store, SIGNAL))), 1);
  await waitUntil("the silence to run out", async () => !isAnySilenceActive(await listSilences(store, SIGNAL)));
  assert.equal((await rawSilences(store)).length, 1);
  const again = { ...soon, endsAtMs: Date.now() + HOUR_MS };
  assert.equal(await carryOut(store, controlPlaneSilenceEffects(again, await listSilences(store, SIGNAL))), 1);
  assert.deepEqual(await comments(store), [ALL]);
});

test(
  "M-351 a real Alertmanager that refuses, is not trusted or is gone costs an error without a secret",
  async (store, server) => {
    const past = { comment: "late", matchers: [], endsAtMs: Date.now() - HOUR_MS };
    await assert.rejects(
      createSilence(store, { ...past, nowMs: Date.now() }, SIGNAL),
      /Cannot write to Alertmanager "127\.0\.0\.1:\d+\/api\/v2\/silences": it answered with status 422\./,
    );
    const wrongLogin = { endpoint: { ...server.endpoint, authorization: "Bearer very-secret-token" } };
    const untrusted = { endpoint: { ...server.endpoint, caCerts: [] } };
    for (const [stranger, words] of [[wrongLogin, /status 401/], [untrusted, /TLS/]] as const) {
      using other = openUpstream(stranger, "Alertmanager");
      await assert.rejects(listSilences(other, SIGNAL), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /very-secret-token/);
        return true;
      });
    }
    await server.stop();
    await assert.rejects(listSilences(store, SIGNAL), /it cannot be reached/);
  },
);
