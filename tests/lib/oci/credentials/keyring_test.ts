import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { openKeyring } from "../../../../lib/oci/credentials/keyring.ts";
import type { CommandRunner } from "../../../../lib/oci/credentials/run_command.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makeCredential } from "../../../support/inspectors.ts";
import { keepLog } from "../../../support/logs.ts";
import { makePrograms, type ProgramFolder } from "./helper_support.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

const CANARY = "c4nary-word";
const NEVER = new AbortController().signal;
const callers = callersOf({ priority: "gated" });
const QUAY = { host: "quay.io", repository: "org/app", callers };
const HUB = { host: "registry-1.docker.io", repository: "library/nginx", callers };
const ANSWER = `echo '{"ServerURL":"x","Username":"robot","Secret":"${CANARY}"}'`;

const nobody: CommandRunner = () => Promise.reject(new Error("no command is expected"));

function open(options: Partial<Parameters<typeof openKeyring>[0]> = {}): ReturnType<typeof openKeyring> {
  return openKeyring({
    ...{ extra: () => [], limits: new WorkLimits(), log: keepLog(), clock: new FakeClock(), run: nobody },
    ...options,
  });
}

/** With this config.json. */
function openWith(
  programs: ProgramFolder,
  config: unknown,
  more: Parameters<typeof open>[0] = {},
): ReturnType<typeof openKeyring> {
  return open({ dockerConfig: programs.write("config.json", JSON.stringify(config)), ...more });
}

Deno.test("credentialsFor() gives the live extra credentials that match, then those of config.json", async () => {
  using programs = makePrograms();
  const config = { auths: { "quay.io": { auth: btoa("file:pw") }, "gcr.io": { auth: btoa("x:y") } } };
  let extra = ["quay.io", "other.io"].map((scope) => makeCredential(scope, { source: "global pull secret" }));
  const keyring = openWith(programs, config, { extra: () => extra });
  const sources = async (): Promise<readonly string[]> =>
    (await keyring.credentialsFor(QUAY, NEVER)).map(({ source }) => source);
  assert.deepEqual(await sources(), ["global pull secret", "config.json"]);
  extra = [];
  assert.deepEqual(await sources(), ["config.json"]);
});

Deno.test("DV-127 credentialsFor() gives nothing when there is no global secret and nothing is configured", async () => {
  assert.deepEqual(await open().credentialsFor(QUAY, NEVER), []);
});

Deno.test("credentialsFor() reads config.json again when it changes, and keeps the last good one", async () => {
  using programs = makePrograms();
  const log = keepLog();
  const write = (text: string): string => programs.write("config.json", text);
  const keyring = openWith(programs, { auths: { "quay.io": { auth: btoa("one:pw") } } }, { log });
  const users = async (): Promise<readonly unknown[]> =>
    (await keyring.credentialsFor(QUAY, NEVER)).map(({ secret }) => secret.kind === "basic" && secret.username);
  assert.deepEqual(await users(), ["one"]);
  write(JSON.stringify({ auths: { "quay.io": { auth: btoa("second:pw") } } }));
  assert.deepEqual(await users(), ["second"]);
  write(`{"auths": {"quay.io": {"auth": "${CANARY}`);
  assert.deepEqual(await users(), ["second"]);
  assert.deepEqual(await users(), ["second"]);
  assert.equal(log.lines.length, 1);
  assert.match(String(log.lines[0]?.fields.reason), /config.json line 1: not JSON/);
  assert.ok(!JSON.stringify(log.lines).includes(CANARY));
  Deno.removeSync(`${programs.path}/config.json`);
  assert.deepEqual(await users(), []);
});

Deno.test("credentialsFor() asks the helper of a host, once a minute, and gives what it says before the entries", async () => {
  using programs = makePrograms();
  programs.program("docker-credential-quay", ANSWER);
  const clock = new FakeClock();
  const config = { auths: { "quay.io": { auth: btoa("file:pw") } }, credHelpers: { "https://quay.io/v1/": "quay" } };
  const keyring = openWith(programs, config, { clock, run: programs.run });
  const found = await Promise.all([keyring.credentialsFor(QUAY, NEVER), keyring.credentialsFor(QUAY, NEVER)]);
  assert.deepEqual(found[0].map(({ source }) => source), ["config.json helper quay", "config.json"]);
  assert.deepEqual(found[0][0]?.secret, { kind: "basic", username: "robot", password: CANARY });
  assert.deepEqual(programs.calls("docker-credential-quay"), ["get|quay.io"]);
  await keyring.credentialsFor({ host: "gcr.io", repository: "x", callers }, NEVER);
  await clock.advance(61_000);
  await keyring.credentialsFor(QUAY, NEVER);
  assert.equal(programs.calls("docker-credential-quay").length, 2);
});

Deno.test("credentialsFor() asks the store for every other host, Docker Hub by its own name, and accepts identity tokens", async () => {
  using programs = makePrograms();
  programs.program("docker-credential-store", `echo '{"Username":"<token>","Secret":"${CANARY}"}'`);
  const keyring = openWith(programs, { credsStore: "store", auths: { "quay.io": {} } }, { run: programs.run });
  assert.deepEqual(await keyring.credentialsFor(HUB, NEVER), [
    { scope: "docker.io", source: "config.json helper store", secret: { kind: "identity", token: CANARY } },
  ]);
  assert.deepEqual(programs.calls("docker-credential-store"), ["get|https://index.docker.io/v1/"]);
});

Deno.test("credentialsFor() lets namespaces take turns at running programs: one that names many hosts keeps no other waiting", async () => {
  using programs = makePrograms();
  const running: { readonly host: string; readonly end: () => void }[] = [];
  const keyring = openWith(programs, { credsStore: "store" }, {
    run: ({ stdin }) =>
      new Promise((resolve) => {
        running.push({ host: stdin, end: () => resolve({ kind: "exited", code: 1, stdout: "" }) });
      }),
  });
  const ask = (host: string, namespace: string): Promise<unknown> =>
    keyring.credentialsFor({ host, repository: "x", callers: callersOf({ namespace, priority: "gated" }) }, NEVER);
  const asked = Array.from({ length: 100 }, (_, at) => ask(`evil-${at}.example`, "evil"));
  await setImmediate();
  assert.equal(running.length, 4);
  asked.push(ask("good-1.example", "good"), ask("good-2.example", "good"));
  await setImmediate();
  assert.deepEqual(running.slice(4).map(({ host }) => host), ["good-1.example"], "it finds a place at once");
  asked.push(ask("evil-99.example", "third"));
  for (let at = 0; at < running.length; at++) {
    running[at]?.end();
    await setImmediate();
  }
  await Promise.all(asked);
  const order = running.map(({ host }) => host);
  assert.equal(order.length, 102, "a host that two namespaces name is asked once");
  assert.ok(order.indexOf("good-2.example") < 8, `${order.indexOf("good-2.example")}`);
  assert.ok(order.indexOf("evil-99.example") < 8, "it has its turn in the share of the namespace that joined");
});

Deno.test("credentialsFor() asks every helper of registries.conf for every host, as they are named now", async () => {
  using programs = makePrograms();
  programs.program("docker-credential-one", `echo '{"Username":"one","Secret":"${CANARY}"}'`);
  programs.program("docker-credential-two", `echo '{"Username":"<token>","Secret":"${CANARY}"}'`);
  programs.program("docker-credential-none", "echo credentials not found in native keychain; exit 1");
  let names: readonly string[] = [];
  const config = { auths: { "quay.io": { auth: btoa("file:pw") } } };
  const keyring = openWith(programs, config, { helpers: () => names, run: programs.run });
  assert.deepEqual((await keyring.credentialsFor(QUAY, NEVER)).map(({ source }) => source), ["config.json"]);
  names = ["none", "two", "one"];
  assert.deepEqual((await keyring.credentialsFor(QUAY, NEVER)).map(({ source, secret }) => [source, secret.kind]), [
    ["config.json", "basic"],
    ["registries.conf helper two", "identity"],
    ["registries.conf helper one", "basic"],
  ]);
  await keyring.credentialsFor(HUB, NEVER);
  assert.deepEqual(programs.calls("docker-credential-one"), ["get|quay.io", "get|https://index.docker.io/v1/"]);
});

Deno.test("credentialsFor() reports a failing helper once, never what it wrote, and is silent about one that has nothing", async () => {
  using programs = makePrograms();
  programs.program("docker-credential-fails", `echo ${CANARY}; echo ${CANARY} >&2; exit 2`);
  programs.program("docker-credential-none", "echo credentials not found in native keychain; exit 1");
  programs.program("docker-credential-junk", `echo '{"Secret": ${CANARY}}'`);
  const helpers = { "fails.io": "fails", "none.io": "none", "junk.io": "junk", "gone.io": "gone", "bad.io": "../bad" };
  const log = keepLog();
  const clock = new FakeClock();
  const keyring = openWith(programs, { credHelpers: helpers }, { log, clock, run: programs.run });
  for (let round = 0; round < 2; round++) {
    for (const host of Object.keys(helpers)) {
      assert.deepEqual(await keyring.credentialsFor({ host, repository: "x", callers }, NEVER), []);
    }
    await clock.advance(61_000);
  }
  assert.deepEqual(log.lines.map(({ fields }) => [fields.source, fields.reason]), [
    ["docker-credential-fails", "ended with exit code 2"],
    ["docker-credential-junk", "gave no readable answer"],
    ["docker-credential-gone", "is not there"],
  ]);
  assert.ok(!JSON.stringify(log.lines).includes(CANARY));
});
