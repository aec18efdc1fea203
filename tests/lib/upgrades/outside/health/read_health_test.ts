import assert from "node:assert/strict";
import type { KubeApi } from "../../../../../lib/k8s/api.ts";
import { Resource } from "../../../../../lib/k8s/types.ts";
import { listenPlain } from "../../../../../playground/listen.ts";
import { MachineName } from "../../../../../lib/upgrades/names.ts";
import type { HealthResult } from "../../../../../lib/upgrades/decide/types/observed.ts";
import { openClusterReader } from "../../../../../lib/upgrades/cluster/cluster_reader.ts";
import { checkDependencies } from "../../../../../lib/upgrades/outside/health/dependencies.ts";
import {
  type HealthDeps,
  openDeploymentFindings,
  readHealth,
} from "../../../../../lib/upgrades/outside/health/read_health.ts";
import { MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import { FAULTS, hastyClock, LIMITS, openFaulty, SIGNAL } from "../support.ts";

const ALL = [
  "CriticalAlerts",
  "ClusterOperators",
  "CapacityReservation",
  "NodeUnschedulable",
  "NodeUnschedulableTaint",
  "PDB",
] as const;
const MACHINE_SET = {
  metadata: { namespace: MachineName.namespace, name: "w", labels: { [MachineName.poolLabel]: "worker" } },
};

function healthy(cluster: MemoryCluster = new MemoryCluster(), api: KubeApi = cluster.api): HealthDeps {
  cluster.put(Resource.machineSets, MACHINE_SET);
  return { alerts: () => Promise.resolve([]), reader: openClusterReader(api, SIGNAL), readFindings: undefined };
}

function without(plural: string): HealthDeps {
  const cluster = new MemoryCluster();
  return healthy(cluster, cluster.client(refusing(500, (call) => call.plural === plural)));
}

function failing(results: readonly HealthResult[]): readonly string[] {
  return results.filter(({ kind }) => kind === "failed").map(({ check }) => check);
}

Deno.test("M-245 readHealth() makes the checks that are wanted in their order, and clears every reason of a healthy cluster", async () => {
  const results = await readHealth(healthy(), ALL, SIGNAL);
  assert.deepEqual(results.map(({ check }) => check), ALL);
  assert.deepEqual(failing(results), []);
  const checks = ["ClusterOperators", "PDB"] as const;
  const some = await readHealth(healthy(), checks, SIGNAL);
  assert.deepEqual(some.map(({ check }) => check), checks);
});

Deno.test("readHealth() reads each kind of objects once", async () => {
  const lists: string[] = [];
  const cluster = new MemoryCluster();
  const api = cluster.client(({ verb, plural }) => void lists.push(`${verb} ${plural}`));
  await readHealth(healthy(cluster, api), ALL, SIGNAL);
  const kinds = ["clusteroperators", "machinesets", "nodes", "poddisruptionbudgets"];
  assert.deepEqual(lists.toSorted(), kinds.map((kind) => `list ${kind}`));
});

Deno.test("M-251 M-252 readHealth() sees nodes and budgets of the cluster", async () => {
  const cluster = new MemoryCluster();
  const node = (name: string, taint: string, unschedulable: boolean) =>
    cluster.put(Resource.nodes, {
      metadata: { name, labels: { "node-role.kubernetes.io/worker": "" } },
      spec: { unschedulable, taints: [{ key: `node.kubernetes.io/${taint}`, effect: "NoSchedule" }] },
    });
  node("n1", "unschedulable", true);
  node("n2", "disk-pressure", false);
  const metadata = { namespace: "shop", name: "b" };
  cluster.put(Resource.podDisruptionBudgets, { metadata, spec: { maxUnavailable: 0 } });
  assert.deepEqual(failing(await readHealth(healthy(cluster), ALL, SIGNAL)), ALL.slice(3));
});

Deno.test("M-222 M-223 M-226 M-228 M-233 M-250 readHealth() fails the checks alone whose reading fails", async () => {
  const noAlerts = () => Promise.reject(new Error("away"));
  const table: readonly (readonly [HealthDeps, readonly string[]])[] = [
    [{ ...healthy(), alerts: noAlerts }, ["CriticalAlerts"]],
    [without("clusteroperators"), ["ClusterOperators"]],
    [without("machinesets"), ["CapacityReservation"]],
    [without("nodes"), ["NodeUnschedulable", "NodeUnschedulableTaint"]],
    [without("poddisruptionbudgets"), ["PDB"]],
    [{ ...healthy(), readFindings: () => Promise.resolve({ kind: "absent" }) }, ["PDB"]],
  ];
  for (const [deps, expected] of table) {
    const results = await readHealth(deps, ALL, SIGNAL);
    assert.deepEqual(failing(results), expected);
    assert.equal(results.length, 6);
  }
});

Deno.test("readHealth() ends with the signal's reason", async () => {
  const stop = new AbortController();
  const alerts = () => {
    stop.abort(new Error("the replica ends"));
    return Promise.reject(new Error("away"));
  };
  const reading = readHealth({ ...healthy(), alerts }, ALL, stop.signal);
  await assert.rejects(reading, /the replica ends/);
});

const SERVICE = {
  metadata: { namespace: "openshift-deployment-validation-operator", name: "deployment-validation-operator-metrics" },
  spec: { ports: [{ name: "http-metrics", port: 8383 }] },
};

Deno.test("M-234 M-236 openDeploymentFindings() reads the operator's metrics without a login, and knows absent from away", async () => {
  let text = "";
  await using server = listenPlain(({ headers, url }) => {
    assert.equal(headers.get("authorization"), null);
    assert.equal(new URL(url).pathname, "/metrics");
    return new Response(text);
  });
  const cluster = new MemoryCluster();
  const deps = {
    api: cluster.api,
    limits: LIMITS,
    userAgent: "archway-test",
    clock: hastyClock(),
    urlOf: () => server.origin,
  };
  const readFindings = openDeploymentFindings(deps);
  assert.deepEqual(await readFindings(SIGNAL), { kind: "absent" });
  const forbidden = cluster.client(refusing(403));
  assert.equal(await openDeploymentFindings({ ...deps, api: forbidden })(SIGNAL), undefined);
  cluster.put(Resource.services, SERVICE);
  assert.deepEqual(await readFindings(SIGNAL), { kind: "observed", value: false });
  text = 'deployment_validation_operator_pdb_max_available{namespace="shop"} 1\n';
  assert.deepEqual(await readFindings(SIGNAL), { kind: "observed", value: true });
  for (const fault of ["answers 500", "cuts the connection", "answers with a huge body"]) {
    await using broken = openFaulty(FAULTS[fault] ?? null);
    const found = await openDeploymentFindings({ ...deps, urlOf: () => broken.origin })(SIGNAL);
    assert.equal(found?.kind, "unknown", fault);
  }
});

Deno.test("M-175 M-176 checkDependencies() asks three times at most, believes a 4xx at once, and shows no secret", async () => {
  const asked: string[] = [];
  let left = 2;
  await using server = listenPlain(({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    if (pathname === "/flaky") return new Response(null, { status: left-- > 0 ? 503 : 200 });
    return new Response("body", { status: { "/up": 200, "/moved": 302, "/gone": 404 }[pathname] ?? 500 });
  });
  const urls = ["/up", "/moved", "/flaky", "/gone?token=s3cret", "/down"].map((path) => server.origin + path);
  const pauses: number[] = [];
  const deps = { clock: hastyClock(pauses), userAgent: "archway-test" };
  const found = await checkDependencies(deps, { urls, timeoutSeconds: 30 }, SIGNAL);
  assert.deepEqual(found.map((one) => one.replace(server.origin, "")), [
    "/gone (it answers with status 404)",
    "/down (it answers with status 500)",
  ]);
  const times = (path: string): number => asked.filter((one) => one === path).length;
  assert.deepEqual([times("/up"), times("/flaky"), times("/gone"), times("/down")], [1, 3, 1, 3]);
  assert.equal(pauses.length, 4);
  assert.ok(pauses.every((pause) => pause >= 1_000 && pause <= 3_000), String(pauses));
});

Deno.test("checkDependencies() gives up a service that never answers after its time", async () => {
  await using server = openFaulty(null);
  const deps = { clock: hastyClock(), userAgent: "archway-test" };
  const [found] = await checkDependencies(deps, { urls: [server.origin], timeoutSeconds: 0.2 }, SIGNAL);
  assert.match(found ?? "", /did not answer within 0\.2 s/);
});
