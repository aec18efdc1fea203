import assert from "node:assert/strict";
import { classifyRequest, type FaultRule } from "../cluster/support/fault_plan.ts";
import { type FaultProxy, startFaultProxy } from "../cluster/support/fault_proxy.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { renderBasic, startRegistry } from "../cluster/support/registry.ts";
import { removeLeftOvers } from "../node/support/left_overs.ts";
import { install } from "../cluster/support/installation.ts";
import { bareControlPlane } from "../cluster/support/shared_control_plane.ts";
import { clusterConfig, CONFIGS } from "../cluster/support/objects.ts";
import { waitUntil } from "../cluster/support/wait.ts";

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

Deno.test("removeLeftOvers() removes an installation whose service was killed at work, and does nothing where there is none", async () => {
  await using cluster = await bareControlPlane();
  await removeLeftOvers(cluster);
  await using installation = await install(cluster, { path: "base", components: [] });
  await using archway = await installation.start();
  await waitUntil(
    "the config to be accepted",
    async () => (await cluster.request("POST", CONFIGS, clusterConfig())).status === 201,
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
