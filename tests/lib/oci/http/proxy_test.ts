import assert from "node:assert/strict";
import fc from "fast-check";
import { proxyFor, readProxySettings } from "../../../../lib/oci/http/proxy.ts";
import { issueLoopbackCertificates } from "../../../../playground/listen.ts";
import { makeMultiArch } from "../../../support/documents.ts";
import { failureIn, openTestInspector } from "../../../support/inspectors.ts";
import { openFakeRegistry } from "../../../support/registry.ts";
import { openTunnelProxy } from "../../../support/tunnel_proxy.ts";

const SCRIPT = new URL("../../../support/ask_once.ts", import.meta.url).pathname;

async function ask(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", SCRIPT, ...args],
    // The runtime's own look for a newer one would go through the proxies too.
    env: { ...env, DENO_NO_UPDATE_CHECK: "1" },
    stderr: "piped",
  });
  return new TextDecoder().decode((await command.output()).stdout);
}

Deno.test("inspect() goes through HTTP_PROXY, but not to hosts of NO_PROXY", async () => {
  await using registry = await openFakeRegistry();
  await using proxy = await openFakeRegistry();
  for (const server of [registry, proxy]) server.put("org/app", makeMultiArch(["arm64"]).index, "v1");
  const proxied = await ask(["registry.example/org/app:v1"], { HTTP_PROXY: proxy.origin, NO_PROXY: "" });
  assert.match(proxied, /"kind":"platforms"/);
  assert.deepEqual([proxy.requests.length, registry.requests.length], [1, 0]);
  const direct = await ask([`${registry.host}/org/app:v1`], { HTTP_PROXY: proxy.origin, NO_PROXY: "127.0.0.1" });
  assert.match(direct, /"kind":"platforms"/);
  assert.deepEqual([proxy.requests.length, registry.requests.length], [1, 1]);
});

Deno.test("inspect() asks HTTPS_PROXY for a tunnel", async () => {
  const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const first = (async () => {
    const connection = await proxy.accept();
    const buffer = new Uint8Array(1_024);
    const text = new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    connection.close();
    return text;
  })();
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}` };
  const report = await ask(["registry.example/org/app:v1", "https"], env);
  assert.match(await first, /^CONNECT registry\.example:443 /);
  assert.match(report, /"kind":"transient"/);
  proxy.close();
});

Deno.test("inspect() goes through the proxy also to a registry whose TLS is not verified, and not where NO_PROXY excludes it", async () => {
  const { serving } = await issueLoopbackCertificates(Date.now());
  await using registry = await openFakeRegistry({ certificate: serving });
  registry.put("org/app", makeMultiArch(["arm64"]).index, "v1");
  await using proxy = openTunnelProxy(registry.host);
  const https_proxy = `http://user:c4nary@${proxy.origin.slice(7)}`;
  const proxies = readProxySettings({ https_proxy, NO_PROXY: ".direct" });
  const connection = { scheme: "https", verifiesTls: false } as const;
  using inspector = openTestInspector({ connection, proxies });
  assert.equal((await inspector.inspect("registry.example/org/app:v1")).inspection.kind, "platforms");
  assert.match(proxy.heads[0] ?? "", /^CONNECT registry\.example:443 /);
  assert.match(proxy.heads[0] ?? "", new RegExp(`proxy-authorization: Basic ${btoa("user:c4nary")}`, "i"));
  assert.equal(registry.requests[0]?.headers.get("proxy-authorization"), null);
  assert.equal((await inspector.inspect("registry.direct/org/app:v1")).inspection.kind, "failed");
  assert.equal(proxy.heads.length, 1);
});

Deno.test("inspect() waits for no name server of its own behind a proxy, but still asks for no forbidden address", async () => {
  const { serving } = await issueLoopbackCertificates(Date.now());
  await using registry = await openFakeRegistry({ certificate: serving });
  registry.put("org/app", makeMultiArch(["arm64"]).index, "v1");
  await using proxy = openTunnelProxy(registry.host);
  using inspector = openTestInspector({
    connection: { scheme: "https", verifiesTls: false, isDeclared: false },
    proxies: readProxySettings({ HTTPS_PROXY: proxy.origin }),
    resolve: () => new Promise(() => {}),
  });
  assert.equal((await inspector.inspect("registry.example/org/app:v1")).inspection.kind, "platforms");
  const denied = await inspector.inspect("169.254.169.254/org/app:v1");
  assert.match(JSON.stringify(denied.inspection), /AddressDenied/);
  assert.equal(proxy.heads.length, 1);
});

Deno.test("inspect() shows no password of the proxy when that refuses", async () => {
  await using proxy = openTunnelProxy(undefined);
  const proxies = readProxySettings({ HTTPS_PROXY: `http://user:c4nary@${proxy.origin.slice(7)}` });
  using inspector = openTestInspector({ connection: { scheme: "https", verifiesTls: false }, proxies });
  const report = await inspector.inspect("registry.example/org/app:v1");
  assert.equal(failureIn(report).kind, "transient");
  assert.doesNotMatch(JSON.stringify(report), new RegExp(`c4nary|${btoa("user:c4nary")}`));
});

Deno.test("inspect() of an insecure registry without TLS goes through HTTP_PROXY when the tunnel is refused", async () => {
  await using tunnels = openTunnelProxy(undefined);
  await using proxy = await openFakeRegistry();
  proxy.put("org/app", makeMultiArch(["arm64"]).index, "v1");
  const env = { HTTPS_PROXY: tunnels.origin, HTTP_PROXY: proxy.origin, NO_PROXY: "" };
  assert.match(await ask(["registry.example:5000/org/app:v1", "insecure"], env), /"kind":"platforms"/);
  assert.match(tunnels.heads[0] ?? "", /^CONNECT registry\.example:5000 /);
  assert.equal(proxy.requests.length, 1);
});

const PROXY = "http://proxy.corp:3128";
const RULES: readonly (readonly [noProxy: string, url: string, isProxied: boolean])[] = [
  ["", "https://quay.io/", true],
  ["*", "https://quay.io/", false],
  ["quay.io", "https://quay.io/", false],
  ["quay.io", "https://cdn.quay.io/", false],
  ["quay.io", "https://notquay.io/", true],
  [".quay.io", "https://quay.io/", true],
  [".quay.io", "https://cdn.quay.io/", false],
  ["*.quay.io", "https://cdn.quay.io/", false],
  ["QUAY.IO", "https://quay.io/", false],
  [" a.io , quay.io ", "https://quay.io/", false],
  ["quay.io:5000", "https://quay.io:5000/", false],
  ["quay.io:5000", "https://quay.io/", true],
  ["quay.io:443", "https://quay.io/", false],
  ["10.0.0.0/8", "https://10.1.2.3/", false],
  ["10.0.0.0/8", "https://11.1.2.3/", true],
  ["10.0.0.0/8", "https://[fd00::1]/", true],
  ["10.1.2.3", "https://10.1.2.3:5000/", false],
  ["fd00::/8", "https://[fd00::1]/", false],
  ["fd00::1", "https://[fd00::1]/", false],
  ["[fd00::1]:5000", "https://[fd00::1]:5000/", false],
  ["", "https://localhost:5000/", false],
  ["", "https://127.0.0.1:5000/", false],
  ["", "https://[::1]:5000/", false],
  [",,10.0.0.0/99,[", "https://10.0.0.1/", true],
];

for (const [noProxy, url, isProxied] of RULES) {
  Deno.test(`proxyFor() ${isProxied ? "proxies" : "spares"} ${url} with NO_PROXY="${noProxy}"`, () => {
    const settings = readProxySettings({ HTTPS_PROXY: PROXY, NO_PROXY: noProxy });
    assert.equal(proxyFor(settings, new URL(url)), isProxied ? PROXY : undefined);
  });
}

Deno.test("readProxySettings() takes a bare address, ALL_PROXY where HTTPS_PROXY is missing, and nothing that is no web address", () => {
  assert.equal(readProxySettings({ HTTPS_PROXY: "proxy:3128" }).https, "http://proxy:3128");
  assert.equal(readProxySettings({ all_proxy: "http://proxy:3128" }).https, "http://proxy:3128");
  for (const HTTPS_PROXY of ["", " ", "socks5://proxy:1", "http://", "::"]) {
    assert.equal(readProxySettings({ HTTPS_PROXY }).https, undefined);
  }
});

Deno.test("proxyFor() never throws", () => {
  const odd = fc.constantFrom("*", ".", "10.0.0.0/8", "[::1]:1", "a.io:1", "/", "::/0", "[", "a/8");
  const text = fc.oneof(fc.string(), odd);
  const host = fc.string({ unit: fc.constantFrom(..."aZ9.-:[]%é@"), maxLength: 20 })
    .filter((text) => URL.canParse(`https://${text}/v2/`));
  fc.assert(
    fc.property(text, fc.array(text), host, (proxy, except, host) => {
      proxyFor(readProxySettings({ HTTPS_PROXY: proxy, NO_PROXY: except.join(",") }), new URL(`https://${host}/v2/`));
    }),
  );
});
