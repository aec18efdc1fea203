import assert from "node:assert/strict";
import { renderTime } from "../../../../lib/vocabulary/time.ts";
import { Registry } from "prom-client";
import { parse } from "yaml";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { NO_PROXIES } from "../../../../lib/oci/http/proxy.ts";
import { type Listener, listenPlain, listenTls } from "../../../../playground/listen.ts";
import { openUpgradeMetrics } from "../../../../lib/upgrades/metrics.ts";
import { Upgrades } from "../../../../lib/upgrades/names.ts";
import type { UpgradeFacts } from "../../../../lib/upgrades/decide/types/observed.ts";
import { openClusterReader } from "../../../../lib/upgrades/cluster/cluster_reader.ts";
import { openOutside } from "../../../../lib/upgrades/outside/outside.ts";
import { createAuthority } from "../../../cluster/support/pki.ts";
import type { MemoryCluster } from "../../../support/memory_kube_api.ts";
import { FROM, makeCluster, makeConfig, makeHistory, makePlan, NOW_MS } from "../decide/make_plan.ts";
import { addPolicy, EXTERNAL_ID, startOcm, withPullSecret } from "./ocm_double.ts";
import { FAULTS, hastyClock, noticeOf, openFaulty, SIGNAL } from "./support.ts";

const { namespace } = Upgrades;

function put(cluster: MemoryCluster, config: string): void {
  const data = { [Upgrades.configMapKey]: config };
  cluster.put(Resource.configMaps, { metadata: { namespace, name: Upgrades.configMapName }, data });
  cluster.put(Resource.clusterVersions, { metadata: { name: "version" }, spec: { clusterID: EXTERNAL_ID } });
}

const record = { sinksOf: () => [], write: () => Promise.resolve() };

const openBed = (
  monitoring: string,
  { config = "{}", facts, bundle = [] }: {
    readonly config?: string;
    readonly facts?: Partial<UpgradeFacts>;
    readonly bundle?: readonly string[];
  } = {},
) => {
  const cluster = withPullSecret();
  put(cluster, config);
  const clock = hastyClock();
  const registry = new Registry();
  const common = { clock, log: silentLogger, userAgent: "archway-test" };
  const endpoint = { baseUrl: monitoring, caCerts: [], authorization: "Bearer s3cret-token" };
  const outside = openOutside({
    ...common,
    ...{ api: cluster.api, namespace, bundles: () => Promise.resolve(bundle), proxies: NO_PROXIES },
    registries: { registry: [], registryCa: [], insecureRegistry: [] },
    pullSecret: undefined,
    metrics: openUpgradeMetrics(registry),
    monitoring: { "alertmanager-main": endpoint, "prometheus-k8s": endpoint },
  });
  const whole: UpgradeFacts = {
    plan: makePlan(),
    config: makeConfig(parse(config)),
    clusterVersion: makeCluster(),
    ...facts,
  };
  return {
    cluster,
    outside,
    options: { ...whole, record, signal: SIGNAL },
    context: { facts: whole, reader: openClusterReader(cluster.api, SIGNAL), nowMs: NOW_MS, signal: SIGNAL },
    series: async () => (await registry.metrics()).split("\n").filter((line) => !line.startsWith("#")).join("\n"),
    [Symbol.dispose]: () => outside[Symbol.dispose](),
  };
};

/** Prometheus without alerts, and an Alertmanager with one silence of ours and one of another client. */
function openQuietMonitoring(): Listener {
  const silence = { id: "a1", comment: "c", endsAt: "2026-11-23T10:00:00.000Z", status: { state: "active" } };
  const silences = [{ ...silence, createdBy: "managed-upgrade-operator" }, { ...silence, createdBy: "else" }];
  const vector = { status: "success", data: { resultType: "vector", result: [] } };
  return listenPlain(({ url }) => Response.json(new URL(url).pathname.endsWith("/silences") ? silences : vector));
}

Deno.test("openOutside() reads silences, health, dependencies and alerts of an upgrade", async () => {
  await using monitoring = openQuietMonitoring();
  const plan = makePlan({}, {
    history: [makeHistory({ startTime: renderTime(NOW_MS - 60_000), completeTime: renderTime(NOW_MS) })],
  });
  using bed = openBed(monitoring.origin, { facts: { plan } });
  const readers = bed.outside.readers(bed.context);
  assert.deepEqual((await readers.silences()).map(({ id }) => id), ["a1"]);
  assert.deepEqual((await readers.health()).map(({ check, kind }) => [check, kind]), [
    ["CriticalAlerts", "passed"],
    ["ClusterOperators", "passed"],
  ]);
  assert.equal((await readers.healthAfter()).length, 2);
  assert.deepEqual(await readers.dependencies(), []);
  assert.deepEqual(await readers.alertsDuring(), []);
  assert.deepEqual(await readers.policy(), { kind: "notConfigured" });
});

Deno.test("a silence begins by the clock of the API server, which its end is of", async () => {
  let startsAt = "";
  await using monitoring = listenPlain(async (request) => {
    ({ startsAt } = Object(await request.json()));
    return Response.json({ silenceID: "a1" });
  });
  const serverAheadMs = -26 * 3_600_000;
  using bed = openBed(monitoring.origin);
  Object.assign(bed.cluster.api, { serverClockOffsetMs: () => serverAheadMs });
  const before = hastyClock().nowMs() + serverAheadMs;
  await bed.outside.createSilence({ comment: "c", matchers: [], endsAtMs: before + 60_000 }, SIGNAL);
  assert.ok(Math.abs(Date.parse(startsAt) - before) < 3_600_000, startsAt);
});

const GRAPH = { nodes: [{ version: FROM, payload: "a" }, { version: "4.99.0", payload: "b" }], edges: [[0, 1]] };
const LABELS = { "node-role.kubernetes.io/master": "", "kubernetes.io/arch": "arm64" };
const CONTROL_PLANE_NODE = { metadata: { name: "m1", labels: LABELS } };

Deno.test("openOutside() asks the graph of the ClusterVersion for the architecture of the control plane", async () => {
  const asked: string[] = [];
  await using graph = listenPlain(({ url }) => {
    asked.push(new URL(url).searchParams.get("arch") ?? "");
    return Response.json(GRAPH);
  });
  const clusterVersion = makeCluster({ upstream: graph.origin });
  using bed = openBed(graph.origin, { facts: { clusterVersion } });
  const readers = bed.outside.readers(bed.context);
  await assert.rejects(readers.graph(), /no node of the control plane says which architecture it has/);
  bed.cluster.put(Resource.nodes, CONTROL_PLANE_NODE);
  const again = bed.outside.readers({ ...bed.context, reader: openClusterReader(bed.cluster.api, SIGNAL) });
  assert.deepEqual(await again.graph(), [{ version: "4.99.0", image: "b" }]);
  assert.deepEqual(asked, ["arm64"]);
  await assert.rejects(again.payload(), /Cannot find the payload of version 4\.17\.2/);
});

Deno.test("openOutside() trusts what the files of --registry-ca sign: the update graph and the cluster manager", async () => {
  const authority = await createAuthority("archway test proxy");
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "graph", usage: "server" });
  const paths: string[] = [];
  await using server = await listenTls(({ url }) => {
    paths.push(new URL(url).pathname);
    return Response.json(url.includes("/clusters") ? { items: [], total: 0 } : GRAPH);
  }, { certificate: { cert, key } });
  const config = `{configManager: {source: OCM, ocmBaseUrl: "${server.origin}/ocm"}}`;
  const facts = { clusterVersion: makeCluster({ upstream: `${server.origin}/graph` }) };
  for (const bundle of [[], [authority.certificatePem]]) {
    using bed = openBed(server.origin, { config, facts, bundle });
    bed.cluster.put(Resource.nodes, CONTROL_PLANE_NODE);
    const readers = bed.outside.readers(bed.context);
    const results = await Promise.allSettled([readers.graph(), bed.outside.policy.refresh(SIGNAL)]);
    const reasons = results.map((result) => String(result.status === "rejected" ? result.reason : ""));
    const isHandshake = reasons.map((reason) => /the TLS hand-shake failed/.test(reason));
    assert.deepEqual(isHandshake, bundle.length === 0 ? [true, true] : [false, false], reasons.join(" "));
  }
  assert.deepEqual(paths.toSorted().slice(0, 1), ["/graph"]);
  assert.ok(paths.some((path) => path.startsWith("/ocm/")), paths.join());
});

for (const [fault, handler] of Object.entries(FAULTS).filter(([fault]) => fault !== "never answers")) {
  Deno.test(`while Prometheus and Alertmanager are broken (${fault}), each reading fails for itself, without a secret`, async () => {
    await using server = openFaulty(handler);
    using bed = openBed(server.origin);
    const { outside, context } = bed;
    const readers = outside.readers(context);
    const silence = { comment: "c", matchers: [], endsAtMs: NOW_MS };
    const calls = [readers.silences(), outside.createSilence(silence, SIGNAL), outside.endSilence("a1", SIGNAL)];
    for (const result of await Promise.allSettled(calls.slice(0, 2))) {
      assert.equal(result.status, "rejected");
      assert.doesNotMatch(String(result.status === "rejected" ? result.reason : ""), /s3cret/);
    }
    await Promise.allSettled(calls);
    const health = await readers.health();
    assert.deepEqual(health.map(({ kind }) => kind), ["failed", "passed"]);
    assert.equal(health[0]?.reasons.healthcheck_query_failed, 1);
    assert.doesNotMatch(JSON.stringify(health), /s3cret/);
  });
}

const NOTICE = noticeOf("StateStarted", "It starts.", "4.17.2");

function eventsOf({ cluster }: ReturnType<typeof openBed>): readonly KubeObject[] {
  return [...cluster.objects].filter(([path]) => path.includes("/events/")).map(([, object]) => object);
}

Deno.test("notify() sends to events and the cluster manager; while that is away the event is sent once, and the failure is shown", async () => {
  await using double = startOcm("api");
  addPolicy(double, "p1", { version: "4.17.2" });
  const config = `{configManager: {source: OCM, ocmBaseUrl: "${double.origin}"}}`;
  using bed = openBed("http://127.0.0.1:1", { config });
  double.intercept = () => new Response(null, { status: 503 });
  const refused = /Cannot send notification StateStarted: cluster manager: /;
  await assert.rejects(bed.outside.notify(NOTICE, bed.options), refused);
  assert.match(await bed.series(), /upgrade_notification_failed\{.*event="StateStarted".*\} 1/);
  assert.equal(eventsOf(bed).length, 1);
  double.intercept = () => undefined;
  await bed.outside.notify(NOTICE, bed.options);
  assert.equal(eventsOf(bed).length, 1);
  assert.deepEqual(double.policies[0]?.state, { value: "started", description: "It starts." });
  assert.match(await bed.series(), /upgrade_notification_failed\{.*event="StateStarted".*\} 0/);
});

Deno.test("notify() sends to events and the log where no cluster manager is configured", async () => {
  using bed = openBed("http://127.0.0.1:1");
  await bed.outside.notify(NOTICE, bed.options);
  assert.equal(eventsOf(bed).length, 1);
});

Deno.test("no policy source is asked while the settings are invalid", async () => {
  using bed = openBed("http://127.0.0.1:1");
  assert.deepEqual(await bed.outside.policy.refresh(SIGNAL), { kind: "notConfigured" });
  put(bed.cluster, "{configManager: {watchInterval: -1}}");
  await assert.rejects(bed.outside.policy.refresh(SIGNAL), /Cannot use ConfigMap .*watchInterval/);
});

Deno.test("notify() posts to the webhook that the settings name", async () => {
  const posted: unknown[] = [];
  await using hook = listenPlain(async (request) => {
    posted.push(await request.json());
    return new Response(null, { status: 204 });
  });
  using bed = openBed("http://127.0.0.1:1", { config: `{notifications: {webhook: {url: "${hook.origin}"}}}` });
  await bed.outside.notify(NOTICE, bed.options);
  await bed.outside.notify(NOTICE, bed.options);
  assert.deepEqual(posted, [{ ...NOTICE, clusterId: EXTERNAL_ID }]);
});

Deno.test("with the source LOCAL nothing is requested before an upgrade begins: the plan that was read is the policy", async () => {
  using bed = openBed("http://127.0.0.1:1", { config: "{configManager: {source: LOCAL}}" });
  Object.assign(bed.cluster.api, { get: () => Promise.reject(new Error("requested")) });
  assert.deepEqual(await bed.outside.readers(bed.context).policy(), { kind: "unchanged" });
  await assert.rejects(bed.outside.policy.refresh(SIGNAL), /requested/);
});

Deno.test("the policy of the cluster manager becomes the plan; while the manager is away nothing changes", async () => {
  await using double = startOcm("api");
  addPolicy(double, "p1", { version: "4.17.2" });
  using bed = openBed("http://127.0.0.1:1", {
    config: `{configManager: {source: OCM, ocmBaseUrl: "${double.origin}", watchInterval: 90}}`,
  });
  const found = (): KubeObject | undefined => bed.cluster.find("upgradeconfigs", `${namespace}/${Upgrades.config}`);
  double.intercept = () => new Response("<html>", { status: 200 });
  await assert.rejects(bed.outside.policy.refresh(SIGNAL), /its answer is no JSON/);
  assert.equal(found(), undefined);
  assert.doesNotMatch(await bed.series(), /sync_timestamp|policy_interval/);
  double.intercept = () => undefined;
  assert.deepEqual(await bed.outside.readers(bed.context).policy(), { kind: "changed" });
  assert.deepEqual(found()?.spec, {
    desired: { version: "4.17.2", channel: "stable-4.17" },
    upgradeAt: "2026-03-20T00:00:00Z",
    PDBForceDrainTimeout: 45,
    capacityReservation: true,
    // The original's, where `upgradeType` is not set.
    type: "ARO",
  });
  assert.match(await bed.series(), /upgradeoperator_upgradeconfig_sync_timestamp\{.*\} \d+/);
  assert.match(await bed.series(), /archway_upgrade_policy_interval_seconds\{.*\} 5400$/m);
});

Deno.test("readings that need a plan report it where there is none; silences are read all the same", async () => {
  await using monitoring = openQuietMonitoring();
  using bed = openBed(monitoring.origin);
  const readers = bed.outside.readers({ ...bed.context, facts: undefined });
  for (const name of ["health", "healthAfter", "dependencies", "graph", "payload", "alertsDuring"] as const) {
    await assert.rejects(readers[name](), /there is no UpgradeConfig/, name);
  }
  assert.equal((await readers.silences()).length, 1);
});
