import assert from "node:assert/strict";
import { openKeyring } from "../../../../lib/oci/credentials/keyring.ts";
import { parsePluginAnswer, parseProviderConfig } from "../../../../lib/oci/credentials/plugin_protocol.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { keepLog } from "../../../support/logs.ts";
import { makePrograms } from "./helper_support.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

const CANARY = "c4nary-word";
const NEVER = new AbortController().signal;
const HOST = "123.dkr.ecr.eu-west-1.amazonaws.com";

function configFor(name: string, more = ""): string {
  return `
apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: ${name}
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  matchImages: ["*.dkr.ecr.*.amazonaws.com", "reg.example.com:5000/team"]
  defaultCacheDuration: 12h0m0s
  args: [get-credentials, --fast]
  env:
  - {name: AWS_PROFILE, value: default}
${more}`;
}

function answer(options: { readonly keyType: string; readonly duration?: string; readonly auth?: unknown }): string {
  const { keyType, duration, auth = { [HOST]: { username: "AWS", password: CANARY } } } = options;
  return JSON.stringify({
    kind: "CredentialProviderResponse",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    cacheKeyType: keyType,
    ...duration === undefined ? {} : { cacheDuration: duration },
    auth,
  });
}

/** A keyring with this script as the plugin `ecr`. */
const open = (script: string, config = configFor("ecr")) => {
  const programs = makePrograms();
  programs.program("ecr", script);
  const [clock, log] = [new FakeClock(), keepLog()];
  const keyring = openKeyring({
    credentialProviderConfig: programs.write("providers.yaml", config),
    credentialProviderBinDir: programs.path,
    extra: () => [],
    limits: new WorkLimits(),
    log,
    clock,
    run: programs.run,
  });
  const callers = callersOf({ priority: "gated" });
  const ask = (host: string, repository: string): Promise<readonly Credential[]> =>
    keyring.credentialsFor({ host, repository, callers }, NEVER);
  return { ...programs, clock, log, ask };
};

Deno.test("kubelet plugins: the request, arguments and environment are the kubelet's", async () => {
  const says = answer({ keyType: "Registry", auth: { [HOST]: { username: "$AWS_PROFILE", password: CANARY } } });
  using bed = open(`cat <<END\n${says}\nEND`);
  assert.deepEqual(await bed.ask(HOST, "team/app"), [
    { scope: HOST, source: "plugin ecr", secret: { kind: "basic", username: "default", password: CANARY } },
  ]);
  const [call = ""] = bed.calls("ecr");
  const [args, request = ""] = call.split("|");
  assert.equal(args, "get-credentials --fast");
  assert.deepEqual(JSON.parse(request), {
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    kind: "CredentialProviderRequest",
    image: `${HOST}/team/app`,
  });
});

Deno.test("kubelet plugins: only images that matchImages covers are asked for", async () => {
  const auth = { "reg.example.com:5000": { username: "u", password: "p" } };
  using bed = open(`echo '${answer({ keyType: "Image", auth })}'`);
  assert.deepEqual(await bed.ask("quay.io", "x"), []);
  assert.deepEqual(await bed.ask("reg.example.com:5000", "teams/x"), []);
  assert.deepEqual(await bed.ask("dkr.ecr.eu.amazonaws.com", "x"), []);
  assert.deepEqual(bed.calls("ecr"), []);
  assert.equal((await bed.ask("reg.example.com:5000", "team/x")).length, 1);
});

const OTHER_HOST = HOST.replace("123", "456");
const KEY_ROWS: readonly (readonly [string, readonly (readonly [string, string])[], number])[] = [
  ["Image", [[HOST, "a"], [HOST, "a"], [HOST, "b"]], 2],
  ["Registry", [[HOST, "a"], [HOST, "b"], [OTHER_HOST, "a"]], 2],
  ["Global", [[HOST, "a"], [HOST, "b"], [OTHER_HOST, "a"]], 1],
];

for (const [keyType, asked, runs] of KEY_ROWS) {
  Deno.test(`kubelet plugins: cacheKeyType ${keyType} decides for what an answer is used again`, async () => {
    using bed = open(`echo '${answer({ keyType })}'`);
    for (const [host, repository] of asked) await bed.ask(host, repository);
    assert.equal(bed.calls("ecr").length, runs);
  });
}

Deno.test("kubelet plugins: cacheDuration of the answer counts, then the default; 0 means not at all", async () => {
  const rows: readonly (readonly [duration: string | undefined, afterMs: number, runs: number])[] = [
    ["1h0m0s", 3_599_000, 1],
    ["1h0m0s", 3_601_000, 2],
    [undefined, 11 * 3_600_000, 1],
    [undefined, 13 * 3_600_000, 2],
    ["0s", 0, 2],
  ];
  for (const [duration, afterMs, runs] of rows) {
    using bed = open(`echo '${answer({ keyType: "Image", ...duration === undefined ? {} : { duration } })}'`);
    await bed.ask(HOST, "a");
    await bed.clock.advance(afterMs);
    await bed.ask(HOST, "a");
    assert.equal(bed.calls("ecr").length, runs, `${duration} after ${afterMs}`);
  }
});

Deno.test("kubelet plugins: a burst for one image runs the plugin once", async () => {
  using bed = open(`sleep 0.1; echo '${answer({ keyType: "Image", duration: "0" })}'`);
  const found = await Promise.all(Array.from({ length: 10 }, () => bed.ask(HOST, "a")));
  assert.ok(found.every(({ length }) => length === 1));
  assert.equal(bed.calls("ecr").length, 1);
});

Deno.test("kubelet plugins: a failing plugin is reported once, rested, and asked again", async () => {
  using bed = open(`echo ${CANARY}; exit 1`);
  assert.deepEqual([await bed.ask(HOST, "a"), await bed.ask(HOST, "a")], [[], []]);
  assert.equal(bed.calls("ecr").length, 1);
  await bed.clock.advance(11_000);
  await bed.ask(HOST, "a");
  assert.deepEqual(bed.log.lines.map(({ fields }) => [fields.source, fields.reason]), [
    ["plugin ecr", "ended with exit code 1"],
  ]);
  bed.program("ecr", `echo '${answer({ keyType: "Image" })}'`);
  await bed.clock.advance(11_000);
  assert.equal((await bed.ask(HOST, "a")).length, 1);
  assert.ok(!JSON.stringify(bed.log.lines).includes(CANARY));
});

Deno.test("kubelet plugins: a missing plugin, a missing and a broken configuration are reported and cost nothing else", async () => {
  using gone = open("", configFor("gone"));
  assert.deepEqual(await gone.ask(HOST, "a"), []);
  assert.deepEqual(gone.log.lines.map(({ fields }) => fields.reason), ["is not there"]);
  using broken = open("", configFor("../evil"));
  assert.deepEqual(await broken.ask(HOST, "a"), []);
  const fault = /providers.yaml line \d+: "providers.0.name" is missing or not/;
  assert.match(String(broken.log.lines[0]?.fields.reason), fault);
  using missing = open("", "");
  Deno.removeSync(`${missing.path}/providers.yaml`);
  assert.deepEqual(await missing.ask(HOST, "a"), []);
  assert.match(String(missing.log.lines[0]?.fields.reason), /is missing/);
});

Deno.test("kubelet plugins: credentials that a plugin gives for another host are not used", async () => {
  const login = { username: "u", password: "p" };
  const auth = { "evil.io": login, "*.dkr.ecr.*.amazonaws.com": login };
  using bed = open(`echo '${answer({ keyType: "Image", auth })}'`);
  assert.deepEqual((await bed.ask(HOST, "a")).map(({ scope }) => scope), ["*.dkr.ecr.*.amazonaws.com"]);
});

Deno.test("parseProviderConfig() leaves out a plugin that wants a pod's token, with a warning", () => {
  const parsed = parseProviderConfig(configFor("acr", "  tokenAttributes: {requireServiceAccount: true}"));
  assert.deepEqual(parsed.kind === "parsed" && parsed.value, []);
  assert.equal(parsed.kind === "parsed" && parsed.warnings.length, 1);
});

Deno.test("parsePluginAnswer() refuses answers of another version or shape", () => {
  const parsed = parseProviderConfig(configFor("ecr"));
  const provider = parsed.kind === "parsed" ? parsed.value[0] : undefined;
  assert.ok(provider !== undefined);
  const good = answer({ keyType: "Image" });
  assert.notEqual(parsePluginAnswer(provider, good), undefined);
  for (const bad of [good.replace("io/v1", "io/v1beta1"), good.replace("Image", "All"), "", "[]", good.slice(1)]) {
    assert.equal(parsePluginAnswer(provider, bad), undefined, bad);
  }
  assert.deepEqual(parsePluginAnswer(provider, answer({ keyType: "Image", auth: null }))?.credentials, []);
});
