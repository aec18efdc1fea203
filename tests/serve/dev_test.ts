import assert from "node:assert/strict";
import { type Config, parseConfig, withValues } from "../../lib/config/parse.ts";
import type { ImageBuildOutcome } from "../../playground/image_build/outcome.ts";
import { runDev } from "../../serve/dev.ts";
import { type Ran, recordingTerminal } from "../lib/cli/support.ts";
import { runArchway } from "../support/archway_program.ts";
import { makeSettings } from "../support/placement_settings.ts";

const settings = makeSettings();

async function migrate(
  flags: readonly string[],
  { onOutput = () => {}, stop = new AbortController().signal }: {
    readonly onOutput?: () => void;
    readonly stop?: AbortSignal;
  } = {},
): Promise<Ran> {
  const { terminal: { out, ...terminal }, said } = recordingTerminal();
  const outAndOn = (text: string): void => {
    out(text);
    onOutput();
  };
  const deps = { settings, terminal: { ...terminal, out: outAndOn }, stop, runServe: () => assert.fail() };
  return { code: await runDev(devConfig("--once", "--scenario=upgrade", ...flags), deps), ...said };
}

function devConfig(...flags: readonly string[]): Config {
  const parsed = parseConfig(["dev", ...flags], { env: {}, readFile: () => "" });
  return parsed.kind === "run" ? parsed.config : assert.fail(JSON.stringify(parsed));
}

Deno.test("`archway dev --once --scenario upgrade` migrates the sample cluster step by step, and reports which workloads run on one architecture", async () => {
  const { code, out, err } = await migrate([]);
  assert.deepEqual([code, err], [0, ""], out);
  assert.match(out, /^In this cluster time passes 30 times as fast as on this machine\.\n/);
  const steps = [
    ...["StartedNotificationSent", "BaselineRecorded", "UpgradeCommenced", "ControlPlaneUpgraded"],
    ...["WorkerNodesUpgraded", "ArchitectureVerified", "CompletedNotificationSent"],
  ];
  const done = out.split("\n").flatMap((line) => /s {2}(\S+) +done$/.exec(line)?.[1] ?? []);
  assert.deepEqual(done.filter((step) => steps.includes(step)), steps, out);
  assert.match(out, /WorkerNodesUpgraded +waiting .*worker \(\d of 3 updated\)/);
  assert.match(
    out,
    /for several architectures, for good\. 1 workload runs on amd64 only: Deployment demo\/legacy\.\n$/,
  );
});

Deno.test("`archway dev --once --scenario upgrade -o json` gives how it ended alone", async () => {
  const { code, out } = await migrate(["-o", "json"]);
  const { phase, architecture, steps } = JSON.parse(out);
  assert.deepEqual([code, phase, architecture], [0, "Upgraded", "Multi"]);
  assert.ok(steps.length >= 15, out);
});

Deno.test("`archway dev --scenario upgrade` ends at once when it is stopped in the middle", async () => {
  const stop = new AbortController();
  let texts = 0;
  const onOutput = (): void => {
    if (++texts === 2) stop.abort();
  };
  await assert.rejects(migrate([], { stop: stop.signal, onOutput }), /^Error: Stopped\.$/);
});

Deno.test("runDev() reports that it was stopped when the signal comes before it listens, however serving ends", async () => {
  const terminal = { out: assert.fail, err: assert.fail, color: false };
  const stop = AbortSignal.abort();
  for (const ended of [() => Promise.resolve(0), () => Promise.reject(stop.reason)]) {
    const running = runDev(devConfig("--once"), { settings, terminal, stop, runServe: ended });
    await assert.rejects(running, /^Error: Stopped\.$/);
  }
});

Deno.test("runDev() listens on the admin port that was named and on no other; of the default on a free one", async () => {
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = other.addr;
  const terminal = { out: () => {}, err: () => {}, color: false };
  const ports: number[] = [];
  const run = async (args: readonly string[], chosen?: readonly string[]): Promise<void> => {
    const runServe = ({ adminListen }: Config): Promise<never> => {
      ports.push(adminListen.port);
      return Promise.reject(new Error("It would listen."));
    };
    const parsed = devConfig(`--admin-listen=127.0.0.1:${port}`, ...args);
    const config = withValues(parsed, chosen === undefined ? {} : { chosen });
    await runDev(config, { settings, terminal, stop: new AbortController().signal, runServe });
  };
  for (const scenario of ["placement", "upgrade"]) {
    await assert.rejects(run([`--scenario=${scenario}`]), { message: `Cannot listen on 127.0.0.1:${port}` });
  }
  assert.deepEqual(ports, []);
  await assert.rejects(run([], []), /^Error: It would listen\.$/);
  assert.ok(ports.length === 1 && ports[0] !== port);
});

Deno.test("`archway dev --once --scenario exec-format-error` reports the wrong images, and no program that merely fails", async () => {
  const { code, stdout, stderr } = await runArchway(["dev", "--once", "-o", "json", "--scenario=exec-format-error"]);
  assert.equal(code, 0, stderr);
  const outcomes: readonly { readonly pod: string; readonly report?: string }[] = JSON.parse(stdout);
  const reports = new Map(outcomes.map(({ pod, report = "" }) => [pod, report]));
  assert.deepEqual([...reports.keys()].sort(), ["bound-by-hand", "lying-image", "merely-fails", "placed"]);
  assert.match(reports.get("bound-by-hand") ?? "", /demo\/edge:v1 has arm64\. .*named its node itself/);
  assert.match(reports.get("lying-image") ?? "", /demo\/lying:v1 claims amd64, but the program in it is for another/);
  assert.deepEqual([reports.get("merely-fails"), reports.get("placed")], ["", ""]);
});

Deno.test("`archway dev --once --scenario image-build` publishes one index of what was built on a node of each architecture", async () => {
  const { code, stdout, stderr } = await runArchway(["dev", "--once", "-o", "json", "--scenario=image-build"]);
  assert.equal(code, 0, stdout + stderr);
  const outcome: ImageBuildOutcome = JSON.parse(stdout);
  assert.deepEqual([outcome.pool, outcome.ok, outcome.problem], ["worker", true, ""]);
  assert.match(outcome.published, /^127\.0\.0\.1:\d+\/demo\/os@sha256:[0-9a-f]{64}$/);
  assert.deepEqual(
    outcome.builds.map(({ architecture, node, state }) => [architecture, node.replace(/-\d$/, ""), state]),
    [["amd64", "amd64", "Succeeded"], ["arm64", "arm64", "Succeeded"]],
  );
});

Deno.test("runDev() switches on what a scenario is about, unless the flag says otherwise", async () => {
  const configOf = async (scenario: string, ...flags: readonly string[]): Promise<readonly string[]> => {
    const config = devConfig("--once", `--scenario=${scenario}`, ...flags);
    const seen: string[] = [];
    const runServe = ({ archTaints, execFormatErrors }: Config): Promise<never> => {
      seen.push(archTaints, execFormatErrors);
      return Promise.reject(new Error("seen"));
    };
    const terminal = { out: () => {}, err: () => {}, color: false };
    await assert.rejects(runDev(config, { settings, terminal, stop: new AbortController().signal, runServe }), /seen/);
    return seen;
  };
  assert.deepEqual(await configOf("exec-format-error"), ["off", "report"]);
  assert.deepEqual(await configOf("exec-format-error", "--exec-format-errors=off"), ["off", "off"]);
  assert.deepEqual(await configOf("exec-format-error", "--exec-format-errors=avoid"), ["off", "avoid"]);
  assert.deepEqual(await configOf("taints"), ["manage", "off"]);
  assert.deepEqual(await configOf("taints", "--arch-taints=tolerate"), ["tolerate", "off"]);
});
