// Proves that the harness is what it says: a real control plane, real registries, and faults that happen.
import assert from "node:assert/strict";
import { readAuditLog } from "../cluster/support/audit_log.ts";
import { classifyRequest, type FaultRule } from "../cluster/support/fault_plan.ts";
import { type FaultProxy, startFaultProxy } from "../cluster/support/fault_proxy.ts";
import { disablePlacement, enablePlacement, installArchway, startArchway } from "../cluster/support/archway.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { createPods, isScheduled, waitForPods } from "../cluster/support/pods.ts";
import { startControlPlane } from "../cluster/support/control_plane.ts";
import { type RealRegistry, renderBasic, startRegistry } from "../cluster/support/registry.ts";
import { removeLeftOvers } from "../node/support/left_overs.ts";
import { install } from "../cluster/support/installation.ts";
import { bareControlPlane, sharedControlPlane } from "../cluster/support/shared_control_plane.ts";
import { findFreePort } from "../cluster/support/ports.ts";
import { startTcpBalancer } from "../cluster/support/tcp_balancer.ts";
import { waitUntil } from "../cluster/support/wait.ts";

function pod(name: string, spec: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const containers = [{ name: "main", image: "registry.example.test/app:v1" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers, ...spec } };
}

Deno.test("a control plane schedules pods, keeps gated ones and holds ServiceAccounts to RBAC", async () => {
  await using cluster = await sharedControlPlane();
  const namespace = await cluster.createNamespace("harness");
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  assert.equal(
    (await cluster.request("POST", pods, pod("gated", { schedulingGates: [{ name: "example.test/gate" }] }))).status,
    201,
  );
  const nodeSelector = { "kubernetes.io/arch": "arm64" };
  assert.equal((await cluster.request("POST", pods, pod("plain", { nodeSelector }))).status, 201);

  const running = await waitUntil("the plain pod to run", async () => {
    const body = await cluster.get(`${pods}/plain`);
    return read(body, "status", "phase") === "Running" && body;
  });
  assert.match(String(read(running, "spec", "nodeName")), /^arm64-/);
  const gated = await cluster.get(`${pods}/gated`);
  assert.equal(read(gated, "spec", "nodeName"), undefined);
  assert.equal(read(gated, "status", "conditions", 0, "reason"), "SchedulingGated");

  const listed = await cluster.kubectl(["get", "pods", "-n", namespace, "-o", "name"]);
  assert.deepEqual([listed.code, listed.stdout], [0, "pod/gated\npod/plain\n"]);
  await waitUntil("the default ServiceAccount", async () => {
    return await cluster.exists(`/api/v1/namespaces/${namespace}/serviceaccounts/default`);
  });
  const kubeconfigFile = await cluster.serviceAccountKubeconfig({ namespace, name: "default" });
  const refused = await cluster.kubectl(["get", "secrets"], { kubeconfigFile });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`system:serviceaccount:${namespace}:default.*cannot list`));
});

Deno.test("a control plane of a test's own keeps its port and its data when parts restart", async () => {
  await using cluster = await startControlPlane({ auditLog: true });
  const namespace = await cluster.createNamespace("harness");
  const get = async (): Promise<number> => (await cluster.request("GET", `/api/v1/namespaces/${namespace}`)).status;
  const before = cluster.pids();
  await cluster.stopApiServer("killed");
  await assert.rejects(get());
  await cluster.startApiServer();
  assert.equal(await get(), 200);
  await cluster.restartEtcd("killed");
  assert.equal(await get(), 200);
  assert.notEqual(cluster.pids()["etcd"], before["etcd"]);
  assert.notEqual(cluster.pids()["kube-apiserver"], before["kube-apiserver"]);
  const path = `/api/v1/namespaces/${namespace}`;
  const audited = await readAuditLog(cluster.auditLogFile ?? "");
  assert.ok(
    audited.some(({ verb, uri, user }) => verb === "get" && uri === path && user === "admin"),
    "no GET audited",
  );
});

/** Status of a manifest GET with the credentials, by the token protocol where the registry asks for it. */
async function readManifest(registry: RealRegistry, reference: string, password?: string): Promise<number> {
  using client = Deno.createHttpClient({ caCerts: [registry.caPem], http2: false, poolMaxIdlePerHost: 0 });
  const url = `${registry.url}/v2/team/app/manifests/${reference}`;
  const accept = "application/vnd.oci.image.index.v1+json";
  const basic: Record<string, string> = password === undefined
    ? {}
    : { authorization: renderBasic("puller", password) };
  const get = async (from: string, headers: Record<string, string>): Promise<Response> => {
    const response = await fetch(from, { client, headers: { accept, ...headers } });
    return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers });
  };
  if (registry.tokenServer === undefined) return (await get(url, basic)).status;
  const query = "service=archway-test-registry&scope=repository:team/app:pull";
  const answer = await get(`${registry.tokenServer.realm}?${query}`, basic);
  if (answer.status !== 200) return answer.status;
  const token = read(await answer.json(), "token");
  return (await get(url, { authorization: `Bearer ${String(token)}` })).status;
}

for (const auth of ["none", "htpasswd", "token"] as const) {
  for (const tls of [true, false]) {
    Deno.test(`a registry (auth ${auth}, ${tls ? "TLS" : "plain HTTP"}) takes images and checks credentials`, async () => {
      await using registry = await startRegistry({ auth, tls });
      const platforms = [{ architecture: "amd64" }, { architecture: "arm64", variant: "v8" }];
      const pushed = await registry.push("team/app", "v1", { platforms, attestations: true });
      assert.equal(pushed.children.length, 4);
      assert.equal(await readManifest(registry, pushed.digest, "secret"), 200);
      const list = await registry.push("team/list", "v1", { platforms, format: "docker" });
      assert.equal(list.children.length, 2);
      const single = await registry.push("team/single", "v1", {
        single: { architecture: "s390x" },
        labels: { a: "b" },
      });
      assert.equal(single.children.length, 0);
      if (auth !== "none") {
        assert.equal(await readManifest(registry, "v1", "wrong"), 401);
        assert.equal(await readManifest(registry, "v1"), 401);
      }
    });
  }
}

Deno.test("a registry serves as a pull-through cache of another one", async () => {
  await using origin = await startRegistry();
  const { digest } = await origin.push("team/app", "v1", { platforms: [{ architecture: "amd64" }] });
  await using cache = await startRegistry({ proxy: { remoteUrl: origin.url, caFile: origin.caFile } });
  assert.equal(await readManifest(cache, "v1"), 200);
  await origin.stop();
  assert.equal(await readManifest(cache, digest), 200);
});

Deno.test("a fault proxy counts by kind, leads tokens through itself and does every fault", async (test) => {
  await using registry = await startRegistry({ auth: "token" });
  const image = await registry.push("team/app", "v1", { platforms: [{ architecture: "amd64" }] });
  await using proxy = await startFaultProxy({ upstream: registry, seed: 7 });
  using client = Deno.createHttpClient({ caCerts: [proxy.caPem], http2: false, poolMaxIdlePerHost: 0 });
  const token = await registry.tokenServer?.issue([{ type: "repository", name: "team/app", actions: ["pull"] }]);
  const ask = async (
    path: string,
    { method = "GET", redirect = "manual" as RequestRedirect, ms = 5_000 } = {},
  ): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.oci.image.index.v1+json" };
    const response = await fetch(`${proxy.url}${path}`, {
      client,
      method,
      redirect,
      headers,
      signal: AbortSignal.timeout(ms),
    });
    const body = method === "HEAD" ? null : await response.arrayBuffer();
    return new Response(body, { status: response.status, headers: response.headers });
  };
  const manifest = "/v2/team/app/manifests/v1";
  const withFault = async (fault: FaultRule["fault"], check: () => Promise<void>): Promise<void> => {
    proxy.setFaults([{ fault, on: ["manifestGet"] }]);
    await check();
    proxy.setFaults([]);
    assert.equal((await ask(manifest)).status, 200);
  };

  await test.step("counts", async () => {
    assert.equal((await ask(manifest)).status, 200);
    assert.equal((await ask(manifest, { method: "HEAD" })).headers.get("docker-content-digest"), image.digest);
    const challenge = await fetch(`${proxy.url}/v2/`, { client });
    await challenge.body?.cancel();
    assert.match(challenge.headers.get("www-authenticate") ?? "", new RegExp(`realm="${proxy.url}/token"`));
    const basic = { authorization: renderBasic("puller", "secret") };
    const granted = await fetch(`${proxy.url}/token?service=archway-test-registry`, { client, headers: basic });
    assert.equal(typeof read(await granted.json(), "token"), "string");
    assert.deepEqual(proxy.counts(), { ping: 1, manifestGet: 1, manifestHead: 1, blobGet: 0, token: 1, other: 0 });
    proxy.reset();
    assert.equal(proxy.counts().manifestGet, 0);
  });
  await test.step("status", () =>
    withFault({ kind: "status", status: 429, retryAfterSeconds: 3 }, async () => {
      const answer = await ask(manifest);
      assert.deepEqual([answer.status, answer.headers.get("retry-after")], [429, "3"]);
    }));
  await test.step("a share of the requests, the same for the same seed", async () => {
    proxy.setFaults([{ fault: { kind: "status", status: 500 }, fraction: 0.3 }]);
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) statuses.push((await ask(manifest)).status);
    proxy.setFaults([]);
    const failed = statuses.filter((status) => status === 500).length;
    assert.ok(failed > 2 && failed < 18, `${failed} of 30 failed`);
  });
  await test.step("reset", () => withFault({ kind: "reset" }, () => assert.rejects(ask(manifest))));
  await test.step("black hole", () =>
    withFault({ kind: "blackHole" }, () => assert.rejects(ask(manifest, { ms: 300 }), { name: "TimeoutError" })));
  await test.step("latency", () =>
    withFault(
      { kind: "latency", ms: 10_000 },
      () => assert.rejects(ask(manifest, { ms: 300 }), { name: "TimeoutError" }),
    ));
  await test.step("slow body", () =>
    withFault({ kind: "slowBody", chunkBytes: 8, everyMs: 100 }, async () => {
      await assert.rejects(ask(manifest, { ms: 500 }), { name: "TimeoutError" });
    }));
  await test.step("truncated body", () => withFault({ kind: "truncateBody" }, () => assert.rejects(ask(manifest))));
  await test.step("tampered body", () =>
    withFault({ kind: "tamperBody" }, async () => {
      const hash = await crypto.subtle.digest("SHA-256", await (await ask(manifest)).arrayBuffer());
      assert.notEqual(`sha256:${new Uint8Array(hash).toHex()}`, image.digest);
    }));
  await test.step("wrong digest", () =>
    withFault({ kind: "wrongDigest" }, async () => {
      assert.notEqual((await ask(manifest)).headers.get("docker-content-digest"), image.digest);
    }));
  await test.step("redirect", () =>
    withFault({ kind: "redirect" }, async () => {
      assert.equal((await ask(manifest, { redirect: "follow" })).status, 200);
      assert.equal((await ask(manifest)).status, 307);
      assert.equal(proxy.storageRequests().length, 1);
    }));
  await test.step("certificates", () => checkCertificates(proxy, async () => (await ask(manifest)).status));
});

async function checkCertificates(proxy: FaultProxy, ask: () => Promise<number>): Promise<void> {
  for (const which of ["untrusted", "expired", "wrongName"] as const) {
    await proxy.presentCertificate(which);
    await assert.rejects(ask(), Error, which);
  }
  await proxy.presentCertificate("trusted");
  assert.equal(await ask(), 200);
}

Deno.test("classifyRequest() distinguishes manifests of deep repositories from pushes", () => {
  assert.deepEqual(classifyRequest("GET", "/v2/a/b/c/manifests/v1"), { kind: "manifestGet", repository: "a/b/c" });
  assert.deepEqual(classifyRequest("PUT", "/v2/a/manifests/v1"), { kind: "other", repository: "a" });
});

Deno.test("startArchway() serves under its own ServiceAccount; pods land where their images run", async () => {
  await using cluster = await sharedControlPlane();
  await using registry = await startRegistry();
  await registry.push("team/arm", "v1", { platforms: [{ architecture: "arm64" }] });
  await registry.push("team/both", "v1", { platforms: [{ architecture: "s390x" }, { architecture: "ppc64le" }] });
  const kubeconfigFile = await installArchway(cluster);
  await using archway = await startArchway({ kubeconfigFile, registries: [registry] });
  await enablePlacement(cluster);
  try {
    const namespace = await cluster.createNamespace("harness");
    const image = (name: string): string => `${registry.host}/team/${name}:v1`;
    const pods = [{ name: "arm", images: [image("arm")] }, { name: "both", images: [image("both")] }];
    await createPods(cluster, namespace, { pods });
    const [arm, both] = await waitForPods(cluster, namespace, { count: 2, until: isScheduled, deadlineMs: 20_000 });
    assert.deepEqual(arm?.requiredArchitectures, [["arm64"]]);
    assert.match(arm.nodeName, /^arm64-/);
    assert.match(both?.nodeName ?? "", /^(s390x|ppc64le)-/);
    assert.match(await archway.metrics(), /^# TYPE /m);
  } finally {
    await disablePlacement(cluster);
  }
  assert.equal(await archway.stop(), 0);
});

Deno.test("startTcpBalancer() goes on with the replica that is left", async () => {
  const serve = (name: string): Deno.HttpServer<Deno.NetAddr> =>
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response(name));
  const [first, second] = [serve("first"), serve("second")];
  await using balancer = startTcpBalancer(findFreePort());
  balancer.setTargets([first.addr.port, second.addr.port]);
  const ask = async (): Promise<string> => {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    return await (await fetch(`http://127.0.0.1:${balancer.port}/`, { client })).text();
  };
  assert.deepEqual(new Set([await ask(), await ask()]), new Set(["first", "second"]));
  await first.shutdown();
  assert.deepEqual([await ask(), await ask()], ["second", "second"]);
  await second.shutdown();
});

Deno.test("removeLeftOvers() removes an installation whose service was killed at work, and does nothing where there is none", async () => {
  await using cluster = await bareControlPlane();
  await removeLeftOvers(cluster);
  await using installation = await install(cluster, { path: "base", components: [] });
  await using archway = await installation.start();
  const config = "/apis/multiarch.openshift.io/v1beta1/clusterpodplacementconfigs";
  const body = { apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig", spec: {} };
  await waitUntil(
    "the config to be accepted",
    async () => (await cluster.request("POST", config, { ...body, metadata: { name: "cluster" } })).status === 201,
  );
  const account = "/api/v1/namespaces/archway-system/serviceaccounts/archway";
  await waitUntil(
    "the account to be held",
    async () => JSON.stringify(await cluster.get(account)).includes("archway.dev/uninstall"),
  );
  archway.kill("SIGKILL");
  await archway.ended;
  await removeLeftOvers(cluster);
  const { stdout } = await cluster.kubectl([
    ...["get", "-o", "name"],
    "namespaces,crds,clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations",
  ]);
  assert.deepEqual(stdout.split("\n").filter((name) => /archway|multiarch/.test(name)), []);
});
