// HTTP_PROXY, HTTPS_PROXY and NO_PROXY: read from the environment when a process starts, so each test starts one.
import assert from "node:assert/strict";
import { makeMultiArch } from "../../support/documents.ts";
import { openFakeRegistry } from "../../support/registry.ts";

const SCRIPT = new URL("../../support/ask_once.ts", import.meta.url).pathname;

async function ask(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", SCRIPT, ...args],
    env,
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
  const report = await ask(["registry.example/org/app:v1", "https"], {
    HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}`,
  });
  assert.match(await first, /^CONNECT registry\.example:443 /);
  assert.match(report, /"kind":"transient"/);
  proxy.close();
});
