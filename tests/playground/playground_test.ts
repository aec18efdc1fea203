import assert from "node:assert/strict";
import { runIndex } from "../../lib/cli/index_command.ts";
import { systemClock } from "../../lib/clock.ts";
import { parseConfig } from "../../lib/config/parse.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { createObject } from "../../playground/create_object.ts";
import { openPlayground, type Playground } from "../../playground/playground.ts";
import { recordingTerminal } from "../lib/cli/support.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

async function withPlayground(use: (playground: Playground) => Promise<void>): Promise<void> {
  await using workDir = await temporaryFolder();
  await using playground = await openPlayground({ clock: systemClock, log: silentLogger, workDir: workDir.path });
  await use(playground);
}

/** A webhook without a server: pods pass as they are. */
function registerDeadWebhook(playground: Playground): Promise<unknown> {
  const pods = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
  const clientConfig = { url: "https://127.0.0.1:1/none" };
  const webhooks = [{ name: "dead.example", failurePolicy: "Ignore", clientConfig, rules: [pods] }];
  const body = { metadata: { name: "dead" }, webhooks };
  return createObject(playground.cluster, kindNamed("MutatingWebhookConfiguration"), { body });
}

Deno.test("openPlayground() writes the login of the registry's user for `index assemble`, readable by its owner alone", () =>
  withPlayground(async ({ files, registry, registryHost }) => {
    const login = files.settings.replace("archway.yaml", "config.json");
    assert.equal(((await Deno.stat(login)).mode ?? 0) & 0o777, 0o600);
    const image = (name: string): string => `${registryHost}/demo/${name}:v1`;
    const flags = [`--registry=${registryHost}`, `--registry-ca=${files.authority}`];
    const words = ["index", "assemble", `--to=${image("joined")}`, image("legacy"), image("edge")];
    const assemble = async (...more: readonly string[]): Promise<number> => {
      const parsed = parseConfig([...words, ...flags, ...more], { env: {}, readFile: Deno.readTextFileSync });
      if (parsed.kind !== "run") return assert.fail(JSON.stringify(parsed));
      const { signal } = new AbortController();
      const { terminal } = recordingTerminal({ color: false });
      return await runIndex(parsed.config, {
        ...{ terminal, signal, clock: systemClock },
        ...{ userAgent: "test", showsProgress: false },
      });
    };
    assert.equal(await assemble(), 1, "it takes a login");
    assert.equal(await assemble(`--config=${files.settings}`), 0);
    assert.deepEqual(registry.architecturesOf("demo/joined:v1"), ["amd64", "arm64"]);
  }));

Deno.test("applySamples() waits for a webhook; without anyone behind it no sample ends as expected", () =>
  withPlayground(async (playground) => {
    const applied = playground.applySamples(new AbortController().signal);
    assert.equal(playground.outcomes().length, 0);
    await registerDeadWebhook(playground);
    await applied;
    const outcomes = playground.outcomes();
    assert.equal(outcomes.length, 8);
    assert.deepEqual(new Set(outcomes.map(({ decision }) => decision)), new Set(["unseen"]));
    assert.ok(outcomes.every(({ ok }) => !ok));
    assert.equal(playground.cluster.store.list(Resource.pods).length, 8);
  }));

Deno.test("waitUntilSettled() rejects when its signal aborts", () =>
  withPlayground(async (playground) => {
    await registerDeadWebhook(playground);
    await playground.applySamples(new AbortController().signal);
    const hurry = new AbortController();
    const settled = playground.waitUntilSettled(hurry.signal);
    hurry.abort(new Error("too late"));
    await assert.rejects(settled, /too late/);
  }));
