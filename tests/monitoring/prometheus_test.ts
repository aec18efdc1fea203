// Queries on alerts against a real Prometheus that is fed by rules of the test.
import assert from "node:assert/strict";
import type { Upstream } from "../../lib/upgrades/outside/http/upstream.ts";
import { firingCriticals, pagingBetween } from "../../lib/upgrades/outside/monitoring/alerts.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { type MonitoringServer, openUpstream, startPrometheus } from "./support.ts";

const SIGNAL = new AbortController().signal;
const NONE = { ignoredCriticals: [], ignoredNamespaces: [] };

/** Alerts that fire from the first evaluation on: name, severity, namespace. */
function rulesOf(alerts: readonly (readonly [string, string, string])[]): string {
  const rules = alerts.map(([alert, severity, namespace]) => (
    { alert, expr: "vector(1)", labels: { severity, namespace } }
  ));
  return JSON.stringify({ groups: [{ name: "test", rules }] });
}

const RULES = rulesOf([
  ["EtcdDown", "critical", "openshift-etcd"],
  ["KubeletDown", "critical", "kube-system"],
  ["KubeletDown", "critical", "default"],
  ["LogsLost", "critical", "openshift-logging"],
  ['Odd"}Name', "critical", "openshift-odd"],
  ["Shop", "critical", "shop"],
  ["Slow", "warning", "openshift-etcd"],
  ["UpgradeNodeDrainFailedSRE", "critical", "openshift-monitoring"],
  ["ArchwayUpgradeHealthChecksFail", "critical", "openshift-managed-upgrade-operator"],
]);

function test(name: string, fn: (upstream: Upstream, server: MonitoringServer) => Promise<void>): void {
  Deno.test(name, { ignore: lacks("prometheus") }, async () => {
    await using server = await startPrometheus(RULES);
    using upstream = openUpstream(server, "Prometheus");
    await fn(upstream, server);
  });
}

async function evaluated(upstream: Upstream): Promise<void> {
  const areAll = async (): Promise<boolean> => (await firingCriticals(upstream, NONE, SIGNAL)).length >= 5;
  await waitUntil("the rules to be evaluated", areAll);
}

test("M-220 M-221 M-241 M-242 a real Prometheus names the critical alerts of the platform, without those that are ignored", async (upstream) => {
  await evaluated(upstream);
  const upgrade = "UpgradeNodeDrainFailedSRE";
  const firing = await firingCriticals(upstream, NONE, SIGNAL);
  assert.deepEqual(firing, ["EtcdDown", "KubeletDown", "LogsLost", 'Odd"}Name', upgrade]);
  const ignored = { ignoredCriticals: ["EtcdDown", 'Odd"}Name', upgrade], ignoredNamespaces: ["openshift-logging"] };
  assert.deepEqual(await firingCriticals(upstream, ignored, SIGNAL), ["KubeletDown"]);
  const all = { ...ignored, ignoredCriticals: [...ignored.ignoredCriticals, "KubeletDown"] };
  assert.deepEqual(await firingCriticals(upstream, all, SIGNAL), []);
});

test(
  "M-037 a real Prometheus names the paging alerts that fired during an upgrade, and none of before",
  async (upstream, { startedMs: beforeMs }) => {
    await evaluated(upstream);
    const endMs = Date.now();
    const fired = { startMs: beforeMs, endMs: endMs + 2_000 };
    const paging = ["ArchwayUpgradeHealthChecksFail", "UpgradeNodeDrainFailedSRE"];
    const pagingOf = (span: { readonly startMs: number; readonly endMs: number }): ReturnType<typeof pagingBetween> =>
      pagingBetween(upstream, { ...span, nowMs: Date.now() }, SIGNAL);
    assert.deepEqual(await pagingOf(fired), paging);
    assert.deepEqual(await pagingOf({ startMs: beforeMs - 7_200_000, endMs: beforeMs - 3_600_000 }), []);
    assert.deepEqual(await pagingOf({ startMs: endMs, endMs: beforeMs }), []);
  },
);

test("M-222 a real Prometheus that refuses the query or is gone costs an error", async (upstream, server) => {
  const refused = upstream.send({ method: "GET", path: "/api/v1/query", query: { query: "ALERTS{" } }, SIGNAL);
  const says = /Cannot read from Prometheus "127\.0\.0\.1:\d+\/api\/v1\/query": it answered with status 400\./;
  await assert.rejects(refused, says);
  await server.stop();
  await assert.rejects(firingCriticals(upstream, NONE, SIGNAL), /it cannot be reached/);
});
