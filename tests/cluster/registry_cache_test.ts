// What is known of images carried to a site without a way out: exported from one cache and imported into another by
// `archway cache`, two files or a file and a KV Connect server, and then good for pods there although no registry answers.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { runArchway } from "../support/archway_program.ts";
import { KvServer } from "./support/denokv.ts";
import { startFaultProxy } from "./support/fault_proxy.ts";
import {
  failureIn,
  flagsFor,
  openImages,
  platformsIn,
  type TemporaryFiles,
  writeTemporaryFiles,
} from "./support/inspecting.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";
import { waitUntil } from "./support/wait.ts";

const ignore = lacks("denokv");
const PLATFORMS = [{ architecture: "amd64" }, { architecture: "arm64", variant: "v8" }];
const SAID = "linux/amd64,linux/arm64/v8";
const SECRET = { kind: "basic", username: "puller", password: "secret" } as const;

async function cache(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stderr } = await runArchway(["cache", ...args], env);
  assert.equal(code, 0, stderr);
  return stderr;
}

/** A site with a way out learns a public image by tag and a private one with a secret; gives the digest of the former. */
async function learn(registry: RealRegistry, files: TemporaryFiles): Promise<string> {
  const { digest } = await registry.push("open/app", "v1", { platforms: PLATFORMS });
  await registry.push("closed/app", "v1", { platforms: PLATFORMS });
  const credentials = [{ scope: `${registry.host}/closed`, source: "secret team/pull", secret: SECRET }];
  await using images = await openImages([...flagsFor(registry), "--cache-path", `${files.path}/here.db`]);
  for (const name of ["open", "closed"]) {
    const report = await images.inspect(`${registry.host}/${name}/app:v1`, { credentials });
    assert.deepEqual([platformsIn(report), report.source], [SAID, "registry"]);
  }
  return digest;
}

Deno.test("registry cache: an export carries tags and digests of public images, and pods are admitted by tag where no registry answers", async () => {
  await using registry = await startRegistry({ auth: "token", token: { publicRepositories: ["open/"] } });
  await using files = await writeTemporaryFiles({});
  const digest = await learn(registry, files);
  const lines = `${files.path}/cache.ndjson`;
  assert.equal(
    await cache(["export", lines, "--cache-path", `${files.path}/here.db`]),
    "2 exported, 2 left out: they took a credential to read\n",
  );
  const text = await Deno.readTextFile(lines);
  assert.match(text, new RegExp(`"tag":{"name":"${registry.host}/open/app:v1","digest":"${digest}"`));
  assert.doesNotMatch(text, /closed|puller|secret/);
  const told = await cache(["import", lines, "--cache-path", `${files.path}/there.db`]);
  assert.equal(told, "2 imported, 0 older than known, 0 not understood, 0 not stored\n");
  await registry.stop();

  const flags = [...flagsFor(registry), "--cache-path", `${files.path}/there.db`];
  await using images = await openImages([...flags, "--tag-ttl", "30d"]);
  for (const name of [`open/app:v1`, `open/app@${digest}`]) {
    const report = await images.inspect(`${registry.host}/${name}`, { freshness: "cached" });
    assert.deepEqual([platformsIn(report), report.source, report.trace.length], [SAID, "cache", 0]);
  }
  // The secret's knowledge stayed where it was, and a tag is not believed beyond its life here.
  assert.equal(failureIn(await images.inspect(`${registry.host}/closed/app:v1`)).reason, "Unreachable");
  await using doubting = await openImages([...flags, "--tag-ttl", "1ms"]);
  const late = await doubting.inspect(`${registry.host}/open/app:v1`, { freshness: "cached" });
  assert.deepEqual([failureIn(late).kind, failureIn(late).reason], ["transient", "Unreachable"]);
});

Deno.test("registry cache: where a mirror answers, an imported tag past its life costs one HEAD and no GET", async () => {
  await using registry = await startRegistry({ auth: "token", token: { publicRepositories: ["open/"] } });
  await using files = await writeTemporaryFiles({});
  await learn(registry, files);
  const lines = `${files.path}/cache.ndjson`;
  await cache(["export", lines, "--cache-path", `${files.path}/here.db`]);
  await cache(["import", lines, "--cache-path", `${files.path}/there.db`]);
  await using mirror = await startFaultProxy({ upstream: registry });
  const conf = `[[registry]]\nlocation = "${registry.host}"\n[[registry.mirror]]\nlocation = "${mirror.host}"\n`;
  await using configuration = await writeTemporaryFiles({ "registries.conf": conf });
  await using images = await openImages([
    ...flagsFor(mirror),
    ...[configuration.flag, "--cache-path", `${files.path}/there.db`, "--tag-ttl", "1ms"],
  ]);
  const report = await images.inspect(`${registry.host}/open/app:v1`, { freshness: "cached" });
  assert.deepEqual([platformsIn(report), report.source], [SAID, "cache"]);
  assert.equal(mirror.counts().manifestGet, 0, "the platforms were known");
  assert.ok(mirror.counts().manifestHead > 0);
});

Deno.test("registry cache: a file is exported while a service works with it, and neither is disturbed", async () => {
  await using registry = await startRegistry();
  await using files = await writeTemporaryFiles({});
  const path = `${files.path}/here.db`;
  const tags = Array.from({ length: 60 }, (_, number) => `v${number}`);
  for (const tag of tags) await registry.push("open/app", tag, { platforms: PLATFORMS });
  await using images = await openImages([...flagsFor(registry), "--cache-path", path]);
  const ask = (tag: string): ReturnType<typeof images.inspect> =>
    images.inspect(`${registry.host}/open/app:${tag}`, { freshness: "cached" });
  const exportAll = (): Promise<string> => cache(["export", `${files.path}/cache.ndjson`, "--cache-path", path]);
  const first = await Promise.all(tags.slice(0, 30).map(ask));
  const [told, rest] = await Promise.all([exportAll(), Promise.all(tags.slice(30).map(ask))]);
  assert.match(told, /^\d+ exported\n$/);
  assert.deepEqual(new Set([...first, ...rest].map(platformsIn)), new Set([SAID]));
  // The service writes in the background, and may forget a little on a machine that is busy: never a row of entries.
  await waitUntil("the entries to be stored", async () => parseInt(await exportAll()) >= 1.8 * tags.length);
});

Deno.test({ name: "registry cache: import into a KV Connect server and export from it", ignore }, async () => {
  const env = { DENO_KV_ACCESS_TOKEN: "a-token-of-the-tests-alone" };
  await using server = await KvServer.start({ token: env.DENO_KV_ACCESS_TOKEN });
  await using registry = await startRegistry({ auth: "token", token: { publicRepositories: ["open/"] } });
  await using files = await writeTemporaryFiles({});
  await learn(registry, files);
  const [first, second] = [`${files.path}/first.ndjson`, `${files.path}/second.ndjson`];
  await cache(["export", first, "--cache-path", `${files.path}/here.db`]);
  await cache(["import", first, "--kv-url", server.url], env);
  await cache(["export", second, "--kv-url", server.url], env);
  assert.equal(await Deno.readTextFile(second), await Deno.readTextFile(first));
  await server.kill();
  const { code, stderr } = await runArchway(["cache", "export", second, "--kv-url", server.url], env);
  assert.equal(code, 3);
  assert.match(stderr, /Cannot export the cache "http:\/\/127\.0\.0\.1:\d+\/": it does not answer/);
  assert.ok(!stderr.includes(env.DENO_KV_ACCESS_TOKEN));
});
