// What `archway serve` loads: the static imports of main.ts and of what it imports for `serve`, counted, and how long a
// process needs until it is ready.
import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { openPlayground } from "../../playground/playground.ts";
import { findFreePort } from "../cluster/support/ports.ts";
import { serveFlags } from "../playground/serving.ts";
import { runCommand } from "../support/commands.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url);

const ENTRIES = [
  ...["main.ts", "serve/serve.ts", "serve/placement.ts"],
  ...["lib/k8s/cluster_access.ts", "lib/placement/decide/config/settings.ts"],
];

/** Bounds with room for growth: a doubling fails. Files and bytes of Archway's own code. */
const MAX_FILES = 320;
const MAX_BYTES = 1_500_000;
/** Packages that serve needs. Each costs start time and memory on every replica: adding one is a decision. */
const PACKAGES = [
  ...["@hono/node-server", "@logtape/logtape", "hono", "ipaddr.js", "lru-cache", "p-limit"],
  ...["prom-client", "smol-toml", "yaml", "zod"],
];

/** Longest from the start of the process until /readyz says yes (ms): 0.7 s on an idle machine, with ten times the load. */
const READY_MS = 20_000;

interface GraphModule {
  readonly specifier: string;
  readonly size?: number;
  readonly error?: string;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

async function readGraph(entry: string): Promise<readonly GraphModule[]> {
  const args = ["info", "--json", new URL(entry, ROOT).href];
  return JSON.parse(await runCommand(Deno.execPath(), args, { cwd: ROOT.pathname, env: { NO_COLOR: "1" } })).modules;
}

/** Everything that is loaded before the first line of `serve` runs: static imports, without those for types alone. */
async function readLoaded(): Promise<ReadonlyMap<string, number>> {
  const graphs = await Promise.all(ENTRIES.map(readGraph));
  const modules = new Map(graphs.flat().map((module) => [module.specifier, module]));
  const loaded = new Map<string, number>();
  const visit = (specifier: string): void => {
    if (loaded.has(specifier)) return;
    const module = modules.get(specifier);
    assert.equal(module?.error, undefined);
    loaded.set(specifier, module?.size ?? 0);
    for (const { isDynamic = false, code } of module?.dependencies ?? []) {
      if (!isDynamic && code?.specifier !== undefined) visit(code.specifier);
    }
  };
  for (const entry of ENTRIES) visit(new URL(entry, ROOT).href);
  return loaded;
}

Deno.test("serve loads neither playground nor commands nor the Kubernetes client, and no more code than its bounds", async () => {
  const loaded = await readLoaded();
  const own = [...loaded].filter(([specifier]) => specifier.startsWith(ROOT.href));
  const files = own.map(([specifier]) => specifier.slice(ROOT.href.length));
  const bytes = own.reduce((sum, [, size]) => sum + size, 0);
  const alien = /^(?:playground\/|tests\/|manifests\/.*\.ts$|serve\/dev\.ts)/;
  assert.deepEqual(files.filter((file) => alien.test(file)), []);
  const commands = files.filter((file) => file.startsWith("lib/cli/"));
  assert.deepEqual(commands, ["lib/cli/output.ts"], "only the streams and exit codes that main itself needs");
  assert.ok(files.length > 100 && files.length <= MAX_FILES, `${files.length} files`);
  assert.ok(bytes > 100_000 && bytes <= MAX_BYTES, `${bytes} bytes`);
  const named = loaded.keys().map((specifier) => /^npm:\/?(@[^/]+\/[^@/]+|[^@/]+)/.exec(specifier)?.[1]);
  assert.deepEqual([...new Set(named.filter((name) => name !== undefined))].sort(), PACKAGES);
});

Deno.test("serve is ready soon after its process starts", async () => {
  await using workDir = await temporaryFolder();
  const options = { clock: systemClock, log: silentLogger, workDir: workDir.path, namespaces: ["archway-system"] };
  await using playground = await openPlayground(options);
  const [webhookPort, adminPort] = [findFreePort(), findFreePort()];
  const startedMs = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", "--unstable-kv", "--quiet", new URL("main.ts", ROOT).href, "serve"],
      ...serveFlags(playground),
      `--listen=127.0.0.1:${webhookPort}`,
      `--admin-listen=127.0.0.1:${adminPort}`,
      `--webhook-url=https://127.0.0.1:${webhookPort}`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await waitUntilReady(adminPort);
    const readyMs = performance.now() - startedMs;
    assert.ok(readyMs < READY_MS, `ready after ${Math.round(readyMs)} ms`);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
});

async function waitUntilReady(port: number): Promise<void> {
  const limit = AbortSignal.timeout(2 * READY_MS);
  for (;;) {
    limit.throwIfAborted();
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    await systemClock.sleep(20, limit);
  }
}
