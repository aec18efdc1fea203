import assert from "node:assert/strict";
import { Resource } from "../../../../../lib/k8s/types.ts";
import type { EndpointSource } from "../../../../../lib/upgrades/outside/http/upstream.ts";
import {
  openMonitoringEndpoint,
  openMonitoringToken,
} from "../../../../../lib/upgrades/outside/monitoring/monitoring_endpoint.ts";
import { FakeClock } from "../../../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import type { KubeApi } from "../../../../../lib/k8s/api.ts";
import { SIGNAL } from "../support.ts";

const NAMESPACE = "openshift-monitoring";
const SERVICE = { namespace: NAMESPACE, name: "alertmanager-main" };
const ROUTES = { group: "route.openshift.io", version: "v1", plural: "routes", kind: "Route", namespaced: true };
const HOUR_MS = 3_600_000;

function withMonitoring(): MemoryCluster {
  const cluster = new MemoryCluster();
  const ports = [{ name: "tenancy", port: 9092 }, { name: "web", port: 9094 }];
  cluster.put(Resource.services, { metadata: SERVICE, spec: { ports } });
  cluster.put(Resource.configMaps, {
    metadata: { namespace: NAMESPACE, name: "serving-certs-ca-bundle" },
    data: { "service-ca.crt": "PEM" },
  });
  cluster.put(ROUTES, { metadata: SERVICE, spec: { host: "alerts.apps.example" } });
  return cluster;
}

function addSecret(cluster: MemoryCluster, token: string): void {
  const metadata = { namespace: NAMESPACE, name: "prometheus-k8s-token-x7k2p" };
  const data = { token: btoa(token) };
  cluster.put(Resource.secrets, { metadata, data, type: "kubernetes.io/service-account-token" });
}

function issuing(
  cluster: MemoryCluster,
  clock: FakeClock,
  before?: (call: MemoryCall) => void,
): KubeApi & { issued: number } {
  const client = cluster.client(before);
  const api = {
    ...client,
    issued: 0,
    create: (...[type, body, options]: Parameters<KubeApi["create"]>) => {
      assert.equal(type.plural, "serviceaccounts");
      assert.deepEqual([options.namespace, options.name, options.subresource], [NAMESPACE, "prometheus-k8s", "token"]);
      assert.deepEqual(Reflect.get(Object(body["spec"]), "expirationSeconds"), 86_400);
      api.issued++;
      const expirationTimestamp = new Date(clock.nowMs() + 10 * HOUR_MS).toISOString();
      const status = { token: `t${api.issued}`, expirationTimestamp };
      return Promise.resolve({ metadata: { name: "prometheus-k8s" }, status });
    },
  };
  return api;
}

function open(api: KubeApi, clock: FakeClock, by: "service" | "route" = "service"): EndpointSource {
  const token = openMonitoringToken({ api, clock });
  return openMonitoringEndpoint({ service: "alertmanager-main", by, api, token, clock });
}

Deno.test("M-357 the Service has address, CA and the token of the Secret", async () => {
  const cluster = withMonitoring();
  addSecret(cluster, "from-secret\n");
  const clock = new FakeClock();
  const api = cluster.client(refusing(403, ({ plural, verb }) => plural === "serviceaccounts" && verb === "create"));
  assert.deepEqual(await open(api, clock).endpoint(SIGNAL), {
    baseUrl: "https://alertmanager-main.openshift-monitoring.svc:9094",
    caCerts: ["PEM"],
    authorization: "Bearer from-secret",
  });
});

Deno.test("M-357 the Route has its host and the public roots, and a token is asked for where there is no Secret", async () => {
  const cluster = withMonitoring();
  const clock = new FakeClock();
  const api = issuing(cluster, clock);
  assert.deepEqual(await open(api, clock, "route").endpoint(SIGNAL), {
    baseUrl: "https://alerts.apps.example",
    caCerts: [],
    authorization: "Bearer t1",
  });
});

Deno.test("M-357 a token is asked for where Secrets must not be read, and kept for most of its life", async () => {
  const cluster = withMonitoring();
  addSecret(cluster, "from-secret");
  const clock = new FakeClock();
  const api = issuing(cluster, clock, refusing(403, ({ plural, verb }) => plural === "secrets" && verb === "list"));
  const source = open(api, clock);
  for (let hour = 0; hour < 7; hour++) {
    assert.equal((await source.endpoint(SIGNAL)).authorization, "Bearer t1");
    await clock.advance(HOUR_MS);
  }
  await clock.advance(HOUR_MS + 60_000);
  assert.equal((await source.endpoint(SIGNAL)).authorization, "Bearer t2");
  source.discard?.();
  assert.equal((await source.endpoint(SIGNAL)).authorization, "Bearer t3");
});

Deno.test("what is missing of monitoring is named, and read again at the next call", async () => {
  const cluster = new MemoryCluster();
  addSecret(cluster, "from-secret");
  const clock = new FakeClock();
  const source = open(cluster.api, clock);
  const missing =
    /Cannot use Service "openshift-monitoring\/alertmanager-main": it is missing, or it has no port "web"/;
  await assert.rejects(source.endpoint(SIGNAL), missing);
  cluster.put(Resource.services, { metadata: SERVICE, spec: { ports: [{ name: "web", port: 9094 }] } });
  await assert.rejects(source.endpoint(SIGNAL), /Cannot use ConfigMap "openshift-monitoring\/serving-certs-ca-bundle"/);
  await assert.rejects(open(cluster.api, clock, "route").endpoint(SIGNAL), /Cannot use Route/);
});

Deno.test("an API server that is away costs an error, and no token is invented", async () => {
  const clock = new FakeClock();
  const api = withMonitoring().client(refusing(503));
  await assert.rejects(open(api, clock).endpoint(SIGNAL), /away/);
});
