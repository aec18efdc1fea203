import assert from "node:assert/strict";
import { runArchway } from "../support/archway_program.ts";
import { startFaultProxy } from "./support/fault_proxy.ts";
import { flagsFor, writeTemporaryFiles } from "./support/inspecting.ts";
import { startRegistry } from "./support/registry.ts";
import { settingsFlag } from "../support/settings_file.ts";

const PLATFORMS = [{ architecture: "amd64" }, { architecture: "arm64", variant: "v8" }];

Deno.test("registry inspect: -o json shows mirror, credential source, digest, platforms and the very requests that were sent", async () => {
  await using registry = await startRegistry({ auth: "token", users: { puller: "s3cr3t-pa55" } });
  const { digest } = await registry.push("mirrored/app", "v1", { platforms: PLATFORMS, attestations: true });
  await using proxy = await startFaultProxy({ upstream: registry });
  const conf = `[[registry]]\nlocation = "registry.example.test"\n` +
    `[[registry.mirror]]\nlocation = "${proxy.host}/mirrored"\n`;
  const auth = btoa("puller:s3cr3t-pa55");
  await using files = await writeTemporaryFiles({
    "registries.conf": conf,
    "config.json": { auths: { [proxy.host]: { auth } } },
  });
  const { code, stdout, stderr } = await runArchway([
    ...["inspect", "-o", "json", "--trace", ...flagsFor(proxy)],
    ...[files.flag, "registry.example.test/app:v1"],
  ]);
  assert.deepEqual([code, stderr], [0, ""]);
  const [{ trace, ...image }] = JSON.parse(stdout);
  assert.deepEqual(image, {
    image: "registry.example.test/app:v1",
    resolved: `${proxy.host}/mirrored/app:v1`,
    mirror: proxy.host,
    credential: "config.json",
    digest,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: [{ os: "linux", architecture: "amd64" }, { os: "linux", architecture: "arm64", variant: "v8" }],
    architectures: ["amd64", "arm64"],
    source: "registry",
    requests: { manifestGet: 1, manifestHead: 0, blobGet: 0, token: 1, other: 1 },
    findings: [],
  });
  const { ping: other, ...counted } = proxy.counts();
  assert.deepEqual({ ...counted, other }, image.requests);
  assert.deepEqual(
    trace.map(({ method, url, status }: { method: string; url: string; status: number }) => [method, url, status]),
    proxy.requests().map(({ method, path, status }) => [method, `${proxy.url}${path.split("?")[0]}`, status]),
  );
  const logins = trace.map(({ authorization = "none" }: { authorization?: string }) => authorization);
  assert.deepEqual(logins, ["none", "Basic", "Bearer"]);
  // Neither the password nor its encoding, nor the signed token (they all begin so).
  for (const secret of ["s3cr3t", auth, "eyJ"]) assert.ok(!stdout.includes(secret), secret);
});

Deno.test("registry inspect: of several images each has its row and its details, and one failure makes the exit code 1", async () => {
  await using registry = await startRegistry({ auth: "htpasswd" });
  await using open = await startRegistry();
  const { children } = await open.push("team/app", "v1", { platforms: PLATFORMS });
  const pinned = `${open.host}/team/app@${children[1]}`;
  const missing = `${open.host}/team/none:v1`;
  const flags = [...flagsFor(registry), ...flagsFor(open)];
  const good = await runArchway(["inspect", ...flags, `${open.host}/team/app:v1`, pinned]);
  assert.deepEqual([good.code, good.stderr], [0, ""]);
  assert.match(good.stdout, /team\/app:v1 +amd64, arm64 +registry +1\n/);
  assert.match(good.stdout, /team\/app@sha256:[0-9a-f]{12}… +arm64 +registry +2 +ChildDigestPin\n/);
  assert.match(good.stdout, /\n {2}Requests +1 manifest GET, 1 blob GET\n/);
  const bad = await runArchway(["inspect", ...flags, missing, `${registry.host}/team/app:v1`, pinned]);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /ManifestUnknown \(permanent\)/);
  assert.match(bad.stdout, /Cannot find image ".*team\/none:v1": the registry does not have it\./);
  assert.match(bad.stdout, /answered 401 \(no pull secret matches it\)\.\n {2}Next +Name a docker config/);
});

Deno.test("registry inspect: a broken configuration file is reported with its line, whatever comes of the image", async () => {
  await using registry = await startRegistry();
  await registry.push("team/app", "v1", { platforms: PLATFORMS });
  await using files = await writeTemporaryFiles({
    "registries.conf": '[[registry]]\nlocation = "a.test"\n[[registry.mirror]\n',
    "config.json": '{"auths": {\n"a.test": {"auth": "s3cr3t',
  });
  const inspect = (...flags: string[]): ReturnType<typeof runArchway> =>
    runArchway(["inspect", ...flagsFor(registry), ...flags, `${registry.host}/team/app:v1`]);
  const refused = await inspect(settingsFlag(files.path, { registriesConf: `${files.path}/registries.conf` }));
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /Misconfigured \(permanent\)/);
  assert.match(refused.stderr, /^archway: Cannot use a registry .*registries\.conf, line 3\): not TOML/);
  const warned = await inspect(settingsFlag(files.path, { dockerConfig: `${files.path}/config.json` }));
  assert.equal(warned.code, 0);
  assert.match(warned.stderr, /^archway: Cannot use a source .*config\.json line 2: not JSON/);
  assert.doesNotMatch(warned.stderr, /s3cr3t/);
});
