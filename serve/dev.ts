// `archway dev`: an embedded cluster and registry with the real `serve`.
import { ExitCode, print } from "../lib/cli/output.ts";
import { systemClock } from "../lib/clock.ts";
import { type Config, withValues } from "../lib/config/parse.ts";
import { silentLogger } from "../lib/log.ts";
import type { PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import { openPlayground, type Playground } from "../playground/playground.ts";
import { renderOutcomeTable, renderWelcome } from "../playground/outcome_text.ts";
import { sampleNames } from "../playground/sample_cluster.ts";
import type { ServeDeps } from "./capability.ts";
import type { ImageBuildDemo } from "./dev_image_build.ts";
import type { UpgradeScenarioDeps } from "./dev_upgrade.ts";

/** How long to wait for samples (ms). */
const SAMPLES_MS = 30_000;

/** How to run `serve`. Defaults are those of `archway serve`. */
export interface ServeRun extends UpgradeScenarioDeps {
  /** Receives log lines; default standard error. */
  readonly writeLog?: ((line: string) => void) | undefined;
  readonly lingerMs?: number;
  readonly onListening?: ServeDeps["onListening"];
}

interface DevDeps extends UpgradeScenarioDeps {
  readonly settings: PlacementSettings;
  readonly runServe: (config: Config, run: ServeRun) => Promise<number>;
}

/** Runs the playground until stopped, or with `--once` until its samples have ended. Gives the exit code. */
export async function runDev(dev: Config, deps: DevDeps): Promise<number> {
  const workDir = await Deno.makeTempDir({ prefix: "archway-dev-" });
  try {
    await using playground = await openPlayground({
      clock: systemClock,
      log: silentLogger,
      workDir,
      namespaces: [dev.namespace],
      scenario: dev.scenario,
    });
    if (dev.scenario === "upgrade") {
      const { runUpgradeScenario } = await import("./dev_upgrade.ts");
      return await runUpgradeScenario({ playground, dev, settings: deps.settings, pagePort: adminPortOf(dev) }, deps);
    }
    await using demo = await openDemo(playground, dev);
    return await serveBeside({ playground, demo }, dev, deps);
  } catch (error) {
    // After a stop, running work fails with unrelated messages.
    throw deps.stop.aborted ? new Error("Stopped.") : error;
  } finally {
    await Deno.remove(workDir, { recursive: true });
  }
}

/** Undefined for scenarios with sample pods. */
async function openDemo(playground: Playground, { scenario }: Config): Promise<ImageBuildDemo | undefined> {
  if (scenario !== "image-build") return undefined;
  return await (await import("./dev_image_build.ts")).openImageBuildDemo(playground);
}

interface DevParts {
  readonly playground: Playground;
  readonly demo: ImageBuildDemo | undefined;
}

async function serveBeside(parts: DevParts, dev: Config, deps: DevDeps): Promise<number> {
  const { playground, demo } = parts;
  const done = new AbortController();
  let isShown = false;
  const listening = Promise.withResolvers<number>();
  const serving = deps.runServe(withValues(configBeside(playground, dev), demo?.config ?? {}), {
    terminal: deps.terminal,
    stop: AbortSignal.any([deps.stop, done.signal]),
    lingerMs: 0,
    writeLog: (line) => {
      // With --once only the table is printed; otherwise the log follows.
      if (!dev.once && isShown) deps.terminal.err(line);
    },
    onListening: ({ adminPort }) => listening.resolve(adminPort),
  });
  // Once Archway listens, neither rejection has an effect.
  serving.then(() => listening.reject(new Error("Archway ended before it listened.")), listening.reject);
  try {
    const adminPort = await listening.promise;
    if (!dev.once) deps.terminal.out(welcome(playground, { adminPort, scenario: dev.scenario }));
    const isAsExpected = await show(parts, dev, deps);
    isShown = true;
    if (!dev.once) await serving;
    return isAsExpected ? ExitCode.done : ExitCode.no;
  } finally {
    done.abort();
    await serving;
  }
}

const TAINTED: readonly string[] = ["taints", "odd-pods"];

function configBeside({ files, registryHost }: Playground, dev: Config): Config {
  const webhookPort = freePort();
  const { scenario, chosen } = dev;
  return withValues(dev, {
    command: "serve",
    warnings: [],
    kubeconfig: files.kubeconfig,
    listen: { host: "127.0.0.1", port: webhookPort },
    adminListen: { host: "127.0.0.1", port: adminPortOf(dev) },
    tlsCert: files.certificate,
    tlsKey: files.key,
    tlsCa: files.authority,
    webhookUrl: `https://127.0.0.1:${webhookPort}`,
    registry: [...dev.registry, registryHost],
    registryCa: [...dev.registryCa, files.authority],
    policy: scenario === "odd-pods" ? files.policy : dev.policy,
    archTaints: TAINTED.includes(scenario) && !chosen.includes("arch-taints") ? "manage" : dev.archTaints,
    execFormatErrors: scenario === "exec-format-error" && !chosen.includes("exec-format-errors")
      ? "report"
      : dev.execFormatErrors,
  });
}

function welcome(
  { apiUrl, registryHost, files: { kubeconfig, authority, settings } }: Playground,
  { adminPort, scenario }: { readonly adminPort: number; readonly scenario: Config["scenario"] },
): string {
  const dashboardUrl = `http://127.0.0.1:${adminPort}/`;
  const archway = Deno.build.standalone ? "archway" : "deno run -A main.ts";
  const sample = sampleNames(scenario)[0] ?? "";
  return renderWelcome({
    apiUrl,
    registryHost,
    kubeconfig,
    authority,
    settings,
    dashboardUrl,
    archway,
    sample,
    scenario,
  });
}

async function show({ playground, demo }: DevParts, { output }: Config, { terminal, stop }: DevDeps): Promise<boolean> {
  const limit = AbortSignal.any([stop, AbortSignal.timeout(SAMPLES_MS)]);
  try {
    if (demo === undefined) await playground.applySamples(limit);
    await (demo === undefined ? playground.waitUntilSettled(limit) : demo.waitUntilOver(limit));
  } catch (error) {
    if (stop.aborted || !limit.aborted) throw error;
    terminal.err("archway: Not all samples ended in time.\n");
  }
  const outcome = demo === undefined ? samplesOutcome(playground, terminal) : demo.outcome();
  print(terminal, output, outcome);
  return outcome.ok;
}

function samplesOutcome(playground: Playground, { color }: DevDeps["terminal"]): ReturnType<ImageBuildDemo["outcome"]> {
  const outcomes = playground.outcomes();
  const { registryHost } = playground;
  return {
    ok: outcomes.every(({ ok }) => ok),
    document: outcomes,
    text: (columns) => renderOutcomeTable(outcomes, { registryHost, color, columns }),
  };
}

/** A port from a flag must be free. With --once, or if the default port is in use, any free port will do. */
function adminPortOf({ once, chosen, adminListen: { port } }: Config): number {
  if (once) return 0;
  try {
    return freePort(port);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    if (chosen.includes("admin-listen")) throw new Error(`Cannot listen on 127.0.0.1:${port}`, { cause });
    return freePort();
  }
}

/** Throws if `wanted` is in use; 0 means any free port. The webhook's URL must be known before the webhook listens. */
function freePort(wanted = 0): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: wanted });
  return listener.addr.port;
}
