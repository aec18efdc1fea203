import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { openPlayground } from "../../playground/playground.ts";
import { renderWelcome } from "../../playground/outcome_text.ts";
import { runCommand } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { podBody } from "./make.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

Deno.test(
  "kubectl gets, watches, creates, changes and deletes pods of the playground",
  { ignore: lacks("kubectl") },
  async () => {
    await using workDir = await temporaryFolder();
    await using playground = await openPlayground({ clock: systemClock, log: silentLogger, workDir: workDir.path });
    const env = { KUBECONFIG: playground.files.kubeconfig, KUBECACHEDIR: `${workDir.path}/cache` };
    const asked = { dashboardUrl: "", archway: "archway", sample: "a", scenario: "placement" } as const;
    const welcome = renderWelcome({ ...playground, ...playground.files, ...asked });
    const suggested = /get pods -w -o "(\S+)\\\n(\S+)"/.exec(welcome)?.slice(1).join("") ?? "";
    await useKubectl(env, { workDir: workDir.path, suggested });
  },
);

async function useKubectl(
  env: Record<string, string>,
  { workDir, suggested }: { readonly workDir: string; readonly suggested: string },
): Promise<void> {
  const run = (...args: readonly string[]): Promise<string> => runCommand("kubectl", args, { env });
  const file = `${workDir}/pod.json`;
  await Deno.writeTextFile(file, JSON.stringify(podBody("a")));
  const watch = new Deno.Command("kubectl", { args: ["get", "pods", "-w"], env, stdout: "piped", stderr: "null" })
    .spawn();
  const lines = watch.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assert.match(await run("create", "-f", file), /pod\/a created/);
  assert.match(await run("get", "pods"), /^NAME +AGE\na +\d+s\n$/);
  assert.match(await run("get", "pods", "-o", suggested), /^NAME +GATES +NODE\na +<none> +\S+-1\n$/);
  assert.match((await lines.read()).value ?? "", /NAME|^a /);
  assert.match(await run("apply", "-f", file), /pod\/a configured/);
  assert.match(await run("label", "pod", "a", "tier=front"), /labeled/);
  assert.match(await run("get", "pods", "-l", "tier in (front)", "-o", "name"), /^pod\/a/);
  assert.match(await run("describe", "pod", "a"), /Scheduled .*default-scheduler/);
  assert.match(await run("events"), /Normal +Scheduled +Pod\/a +Successfully assigned demo\/a/);
  assert.match(await run("delete", "pod", "a"), /deleted/);
  assert.equal(await run("get", "pods", "-o", "name"), "");
  watch.kill();
  await lines.cancel();
  await watch.status;
}
