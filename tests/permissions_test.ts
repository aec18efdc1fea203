// What Archway may do on the machine it runs on: the tasks that run it name a permission set of deno.json, and need no more.
// tests/cluster/support/archway.ts starts the service with the set `serve`, so every cluster test shows that it suffices.
import assert from "node:assert/strict";
import * as z from "zod";
import { issueLoopbackCertificates } from "../playground/listen.ts";
import { readPermissions, renderPermissions } from "../manifests/image/compile.ts";
import { runCommand, runToEnd } from "./support/commands.ts";
import { temporaryFolder } from "./support/temporary_folder.ts";
import { openFakeRegistry } from "./support/registry.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const CONFIGURATION = z.object({
  tasks: z.record(z.string(), z.string()),
  permissions: z.record(z.string(), z.record(z.string(), z.union([z.boolean(), z.array(z.string())]))),
}).parse(JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)));

/** Who else uses a set: the image is built with these (`deno task image --permissions=…`). */
const OF_IMAGES = ["serve", "plugins", "daemon"];
/** What may be run, by set; nothing where a set is missing. */
const PROGRAMS: Readonly<Record<string, unknown>> = { plugins: true, daemon: ["/usr/bin/bpftrace"] };

Deno.test("the tasks that run Archway have the permissions of a set, and every set is used", () => {
  const { tasks, permissions } = CONFIGURATION;
  const running = Object.entries(tasks).filter(([, command]) => /^deno run .*main\.ts/.test(command));
  assert.deepEqual(running.map(([name]) => name), ["dev", "serve"]);
  const used = running.map(([, command]) => {
    assert.doesNotMatch(command, /(?:^| )(?:-A|--allow)/);
    return / -P=(\w+) /.exec(command)?.[1] ?? "";
  });
  assert.deepEqual(Object.keys(permissions).toSorted(), [...new Set([...used, ...OF_IMAGES])].toSorted());
});

Deno.test("permission sets let Archway run what each is for, load no libraries, and write in few folders", () => {
  for (const [name, grants] of Object.entries(CONFIGURATION.permissions)) {
    const { run = false, ffi = false, all = false, write = [] } = grants;
    assert.deepEqual([run, ffi, all], [PROGRAMS[name] ?? false, false, false], name);
    assert.ok(Array.isArray(write) && !write.includes("/"), name);
  }
});

Deno.test("with the permissions of the service nothing is written outside of its folders, and no program runs", async () => {
  const script = `const name = (error) => error.name;
    const forbidden = await Deno.mkdir("/var/lib/archway-forbidden").then(() => "done", name);
    const run = await new Promise((resolve) => resolve(new Deno.Command("true").output())).then(() => "done", name);
    console.log(forbidden, run);`;
  await using folder = await temporaryFolder();
  const file = `${folder.path}/forbidden.js`;
  await Deno.writeTextFile(file, script);
  const args = ["run", "-q", "--no-config", ...renderPermissions(await readPermissions("serve")), file];
  assert.equal(await runCommand(Deno.execPath(), args, { env: { NO_COLOR: "1" } }), "NotCapable NotCapable\n");
});

Deno.test("dev plays its samples to the end with the permissions of its set", async () => {
  const args = ["run", "-q", "-P=dev", "--no-prompt", "main.ts", "dev", "--once"];
  const { code, said } = await runToEnd(Deno.execPath(), args, { cwd: ROOT, env: { NO_COLOR: "1" } });
  assert.equal(code, 0, said);
});

Deno.test("with the permissions of the service a registry is read whose certificate is not verified", async () => {
  const { serving } = await issueLoopbackCertificates(Date.now());
  await using registry = await openFakeRegistry({ certificate: serving });
  const image = `${registry.host}/app:v1`;
  const args = ["run", "-q", "-P=serve", "--no-prompt", "main.ts", "inspect", `--insecure-registry=${registry.host}`];
  const { out } = await runToEnd(Deno.execPath(), [...args, "-o", "json", image], { cwd: ROOT });
  // The registry has no such image, and says so: it was reached.
  assert.match(out, /ManifestUnknown/);
});
