import assert from "node:assert/strict";
import { Resource } from "../../../../../lib/k8s/types.ts";
import { UpstreamError } from "../../../../../lib/upgrades/outside/http/upstream_error.ts";
import { checkedBaseUrl, ocmModeOf, pullSecretAuth } from "../../../../../lib/upgrades/outside/ocm/ocm_client.ts";
import { MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import {
  addPolicy,
  AUTHS,
  CLUSTER_ID,
  endpointOf,
  EXTERNAL_ID,
  openOcm,
  PULL_SECRET_AUTH,
  secretOf,
  startOcm,
  withPullSecret,
} from "../ocm_double.ts";
import { FAULTS, openFaulty, SIGNAL } from "../support.ts";

for (const mode of ["api", "agent"] as const) {
  const row = mode === "api" ? "" : " M-094";
  Deno.test(`M-090 M-091 M-092 M-093${row} the client reads cluster, policies and state, and sets the state (${mode})`, async () => {
    await using double = startOcm(mode);
    addPolicy(double, "p1");
    const { client } = double;
    const cluster = await client.cluster(SIGNAL);
    assert.deepEqual(cluster, { id: CLUSTER_ID, channelGroup: "stable", drainGraceMinutes: 45 });
    const [policy, ...more] = await client.policies(cluster.id, SIGNAL);
    assert.deepEqual([policy, more], [{ id: "p1", version: "4.16.3", nextRun: "2026-03-20T00:00:00Z" }, []]);
    const target = { clusterId: cluster.id, policyId: "p1" };
    assert.deepEqual(await client.policyState(target, SIGNAL), { value: "scheduled", description: "" });
    await client.setPolicyState(target, { value: "started", description: "It starts." }, SIGNAL);
    assert.deepEqual(double.policies[0]?.state, { value: "started", description: "It starts." });
    assert.equal(double.seen[0], mode === "agent" ? "GET /" : "GET /api/clusters_mgmt/v1/clusters");
  });
}

Deno.test("M-083 cluster() says that the manager does not have this cluster", async () => {
  await using double = startOcm("api");
  double.intercept = () => Response.json({ kind: "ClusterList", total: 0, items: [] });
  await assert.rejects(double.client.cluster(SIGNAL), new RegExp(`Cannot find the cluster "${EXTERNAL_ID}"`));
});

Deno.test("M-099 the client tries a read five times more, 2 to 32 s apart, and names the operation that failed", async () => {
  await using double = startOcm("api");
  double.intercept = () => Response.json({}, { status: 502, headers: { "x-operation-id": "op-77" } });
  await assert.rejects(double.client.cluster(SIGNAL), /it answered with status 502, operation op-77\./);
  assert.equal(double.seen.length, 6);
  assert.deepEqual(double.pauses.map((pause, at) => Math.round(pause / (2_000 * 2 ** at))), [1, 1, 1, 1, 1]);
});

Deno.test("an answer of another kind is an error, never an empty list: that would delete the plan", async () => {
  await using double = startOcm("api");
  for (const body of ["{}", "[]", "null", '{"kind":"Error"}', "<html>", '{"total":1,"items":[{}]}']) {
    double.intercept = () => new Response(body);
    const expected = /its answer is (no JSON|not what it must be)/;
    await assert.rejects(double.client.policies(CLUSTER_ID, SIGNAL), expected, body);
  }
});

for (const [fault, handler] of Object.entries(FAULTS).filter(([fault]) => fault !== "never answers")) {
  Deno.test(`M-082 every call rejects without a secret while the manager ${fault}`, async () => {
    await using server = openFaulty(handler);
    using opened = openOcm(server.origin, "api");
    const { client } = opened;
    const calls = [
      client.cluster(SIGNAL),
      client.policies(CLUSTER_ID, SIGNAL),
      client.policyState({ clusterId: CLUSTER_ID, policyId: "p1" }, SIGNAL),
    ];
    for (const result of await Promise.allSettled(calls)) {
      assert.equal(result.status, "rejected", fault);
      const message = result.status === "rejected" ? String(result.reason) : "";
      assert.match(message, /UpstreamError: Cannot read from the cluster manager/);
      assert.ok(!message.includes(PULL_SECRET_AUTH) && !message.includes("s3cret-token"), message);
    }
  });
}

Deno.test("M-100 M-105 the login is the cluster's id with the pull secret's entry", () => {
  assert.deepEqual(pullSecretAuth(secretOf(AUTHS)), { kind: "found", value: PULL_SECRET_AUTH });
});

Deno.test("M-102 M-103 M-104 a pull secret without the entry is named for what it lacks, never quoted", () => {
  const table: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /no \.dockerconfigjson/],
    [{}, /no \.dockerconfigjson/],
    [secretOf(AUTHS, "config.json"), /no \.dockerconfigjson/],
    [secretOf("s3cret, no JSON"), /is no JSON object/],
    [{ data: { ".dockerconfigjson": "%%%s3cret" } }, /is no JSON object/],
    [secretOf({}), /no auths/],
    [secretOf({ auths: {} }), /no auths/],
    [secretOf({ auths: { "cloud.openshift.com": { email: "s3cret" } } }), /no auths/],
  ];
  for (const [secret, words] of table) {
    const found = pullSecretAuth(secret);
    assert.equal(found.kind, "missing");
    if (found.kind !== "missing") continue;
    assert.match(found.state, words);
    assert.doesNotMatch(found.state, /s3cret/);
  }
});

Deno.test("M-095 M-097 M-101 nothing is sent without a login, and a pull secret that cannot be read is an error", async () => {
  await using double = startOcm("api", new MemoryCluster());
  await assert.rejects(
    double.client.cluster(SIGNAL),
    /Cannot log in to the cluster manager: there is no \.dockerconfigjson in Secret "openshift-config\/pull-secret"/,
  );
  const api = new MemoryCluster().client(refusing(500));
  await assert.rejects(endpointOf({ baseUrl: double.origin, api }).endpoint(SIGNAL), /away/);
  assert.deepEqual(double.seen, []);
});

Deno.test("M-096 nothing is sent while the ClusterVersion cannot be read", async () => {
  const clusterId = () => Promise.reject(new Error("no ClusterVersion"));
  await assert.rejects(endpointOf({ clusterId }).endpoint(SIGNAL), /no ClusterVersion/);
});

Deno.test("a pull secret that was replaced counts from the next request on", async () => {
  const cluster = withPullSecret(secretOf({ auths: { "cloud.openshift.com": { auth: "b2xk" } } }));
  await using double = startOcm("api", cluster);
  await assert.rejects(double.client.cluster(SIGNAL), /status 401/);
  const metadata = { namespace: "openshift-config", name: "pull-secret" };
  cluster.put(Resource.secrets, { ...secretOf(AUTHS), metadata });
  assert.equal((await double.client.cluster(SIGNAL)).id, CLUSTER_ID);
});

Deno.test("M-084 checkedBaseUrl() takes web addresses, and no plain HTTP to anywhere else than the cluster", () => {
  assert.equal(checkedBaseUrl("https://api.openshift.com/"), "https://api.openshift.com");
  const agent = "http://ocm-agent.openshift-ocm-agent-operator.svc.cluster.local:8081";
  assert.equal(checkedBaseUrl(agent), agent);
  assert.equal(ocmModeOf(agent), "agent");
  assert.equal(ocmModeOf("https://api.openshift.com"), "api");
  for (const near of ["http://127.0.0.1:8081", "http://[::1]:8081", "http://localhost"]) {
    assert.equal(checkedBaseUrl(near), near);
  }
  const plain = ["http://127.evil.example", "http://127.0.0.1.evil.example", "http://api.openshift.com"];
  const bad = [...plain, "", "api.openshift.com", "ftp://api.openshift.com", "https://u:p@h", "https://h/?a=b"];
  for (const url of bad) assert.throws(() => checkedBaseUrl(url), UpstreamError, url);
});

Deno.test("the manager may be signed by the bundles, as they are at each request", async () => {
  let bundles = ["one"];
  const source = endpointOf({ bundles: () => Promise.resolve(bundles) });
  assert.deepEqual((await source.endpoint(SIGNAL)).caCerts, ["one"]);
  bundles = ["one", "two"];
  assert.deepEqual((await source.endpoint(SIGNAL)).caCerts, ["one", "two"]);
});
