// The entry point. Only this file reads args, env and signals. Commands load when run, so `serve` never loads `dev`.
import { type CommandDeps, ExitCode, foldLines, forTerminal, type Terminal } from "./lib/cli/output.ts";
import { systemClock } from "./lib/clock.ts";
import { renderHelp } from "./lib/config/help.ts";
import { type Config, parseConfig, withValues } from "./lib/config/parse.ts";
import type { CallerImages } from "./lib/cli/report.ts";
import type { KubeApi } from "./lib/k8s/api.ts";
import type { ClusterAccess } from "./lib/k8s/cluster_access.ts";
import { errorText, openLogger, silentLogger } from "./lib/log.ts";
import { loginFile } from "./lib/oci/config/registry_environment.ts";
import {
  parsePlacementSettings,
  placementProblems,
  type PlacementSettings,
} from "./lib/placement/decide/config/settings.ts";
import { assertNever } from "./lib/parsed.ts";
import type { ServeRun } from "./serve/dev.ts";

const VERSION = "0.2.0";

const USER_AGENT = `archway/${VERSION}`;
/** How long webhooks still answer after SIGTERM (ms): in this time a Service updates its endpoints or, without a
 * Service, busy connections close. */
const LINGER_MS = { service: 3_000, url: 1_000 } as const;

/** Startup garbage is collected this long after start (ms). */
const STARTED_MS = 10_000;

const encoder = new TextEncoder();

/** Exit code for a closed pipe (128 + SIGPIPE), as shells expect of `archway report | head -1`. */
const CLOSED_PIPE = 141;

function openTerminal(): Terminal & { readonly isClosed: () => boolean } {
  let isClosed = false;
  const write = (stream: typeof Deno.stdout | typeof Deno.stderr, text: string): void => {
    if (isClosed) return;
    try {
      stream.writeSync(encoder.encode(text));
    } catch (error) {
      isClosed = error instanceof Deno.errors.BrokenPipe;
      throw error;
    }
  };
  const [columns, errColumns] = [Deno.stdout, Deno.stderr].map((stream) =>
    stream.isTerminal() ? Deno.consoleSize().columns || undefined : undefined
  );
  return {
    out: (text) => write(Deno.stdout, forTerminal(text)),
    err: (text) => write(Deno.stderr, foldLines(forTerminal(text), errColumns)),
    color: Deno.stdout.isTerminal() && !Deno.noColor,
    columns,
    isClosed: () => isClosed,
  };
}

async function main(terminal: Terminal): Promise<number> {
  const parsed = parseConfig(Deno.args, {
    env: Deno.env.toObject(),
    readFile: Deno.readTextFileSync,
    placementProblems,
  });
  switch (parsed.kind) {
    case "help":
      terminal.out(renderHelp(parsed.command));
      return ExitCode.done;
    case "version":
      terminal.out(`archway ${VERSION}\n`);
      return ExitCode.done;
    case "usage":
      return refuse(terminal, parsed.problems);
    case "run":
      return await run(parsed.config, terminal);
    default:
      return assertNever(parsed);
  }
}

function refuse(terminal: Terminal, problems: readonly string[]): number {
  for (const problem of problems) terminal.err(`archway: ${problem}\n`);
  return ExitCode.usage;
}

async function run(config: Config, terminal: Terminal): Promise<number> {
  const deps: CommandDeps = { terminal, clock: systemClock, userAgent: USER_AGENT, signal: stopSignal() };
  if (config.command !== "serve") { for (const warning of config.warnings) terminal.err(`archway: ${warning}\n`); }
  return await RUNNERS[config.command](config, deps);
}

type Runner<Deps = CommandDeps> = (config: Config, deps: Deps) => Promise<number>;

const RUNNERS: Readonly<Record<Config["command"], Runner>> = {
  serve: async (config, deps) => {
    const { terminal, signal: stop } = deps;
    return sayStopped(await runServe(config, { terminal, stop }), deps);
  },
  dev: async (config, deps) => {
    const { terminal, signal: stop } = deps;
    const { runDev } = await import("./serve/dev.ts");
    return sayStopped(await runDev(config, { settings: settingsOf(config), terminal, stop, runServe }), deps);
  },
  inspect: async (config, deps) => await (await import("./lib/cli/inspect.ts")).runInspect(withLogins(config), deps),
  index: async (config, deps) => {
    const { runIndex } = await import("./lib/cli/index_command.ts");
    return await runIndex(withLogins(config), { ...deps, showsProgress: Deno.stderr.isTerminal() });
  },
  explain: onCluster(runExplanation),
  report: onCluster(async (config, deps) => {
    const { runReport } = await import("./lib/cli/report.ts");
    const settings = settingsOf(config);
    return await runReport({ ...config, settings }, { ...deps, showsProgress: Deno.stderr.isTerminal() });
  }),
  taints: onCluster(async (config, deps) => await (await import("./lib/cli/taints.ts")).runTaints(deps, config)),
  upgrade: onCluster(async (config, deps) => await (await import("./lib/cli/upgrade.ts")).runUpgrade(deps, config)),
  ungate: onCluster(async (config, deps) => await (await import("./lib/cli/ungate.ts")).runUngate(deps, config)),
  "enoexec-daemon": runDaemon,
  cache: async (config, deps) => {
    return await (await import("./lib/cli/cache.ts")).runCache(config, { ...deps, input: Deno.stdin.readable });
  },
  completion: async (config, { terminal }) => {
    const { renderCompletion } = await import("./lib/cli/completion.ts");
    terminal.out(renderCompletion(config.positionals[0]));
    return ExitCode.done;
  },
};

/** Confirms on a terminal that the user stopped the command. Elsewhere the log suffices. */
function sayStopped(code: number, { terminal, signal }: CommandDeps): number {
  if (signal.aborted && Deno.stderr.isTerminal()) terminal.err("archway: Stopped.\n");
  return code;
}

/** Adds the registry logins of the user who runs the command. Other commands only use `dockerConfig`. */
function withLogins(config: Config): Config {
  return withValues(config, { dockerConfig: config.dockerConfig ?? loginFile(Deno.env.toObject(), isFile) });
}

/** Reads the placement flags and files, whose problems parseConfig() has already reported. */
function settingsOf(config: Config): PlacementSettings {
  const options = parsePlacementSettings(config);
  if (options.kind === "unparsable") throw new Error(options.problems.join("\n"));
  return options.value;
}

async function runExplanation(config: Config, deps: ClusterDeps): Promise<number> {
  const { podNamespace = deps.access.namespace ?? "default" } = config;
  const { runExplain } = await import("./lib/cli/explain.ts");
  const openImages = async (): Promise<CallerImages> =>
    await (await import("./lib/cli/report.ts")).openCallerImages(config, deps);
  return await runExplain({ ...deps, openImages }, { ...config, podNamespace, settings: settingsOf(config) });
}

async function runDaemon(config: Config, { terminal, signal }: CommandDeps): Promise<number> {
  const { namespace, nodeName = "", adminListen } = config;
  const { runEnoexecDaemon } = await import("./serve/enoexec_daemon.ts");
  const { spawnBpftrace: start } = await import("./lib/exec_format/daemon/spawn_bpftrace.ts");
  const { RestApi } = await import("./lib/k8s/rest_api.ts");
  const log = openLogger({ level: config.fallbackLogLevel, write: terminal.err });
  const access = await openAccess(
    config,
    (message) => log.warn("cannot trust the connection to the cluster", { message }),
  );
  await using api = new RestApi(access, { clock: systemClock, log, userAgent: USER_AGENT });
  const clock = systemClock;
  await runEnoexecDaemon({ start, api, clock, log, nodeName, namespace, adminListen }, signal);
  log.close();
  return ExitCode.done;
}

interface ClusterDeps extends CommandDeps {
  readonly api: KubeApi;
  readonly access: ClusterAccess;
}

function onCluster(work: Runner<ClusterDeps>): Runner {
  return async (config, deps) => {
    const onSilence = (sentence: string): void => deps.terminal.err(`archway: ${sentence}\n`);
    const access = await openAccess(config, onSilence);
    const { RestApi } = await import("./lib/k8s/rest_api.ts");
    await using api = new RestApi(access, { ...deps, log: silentLogger, onSilence });
    return await work(config, { ...deps, api, access });
  };
}

/** Signals within this time (ms) count as one: a terminal signals this process and `deno task`, which forwards it. */
const SAME_SIGNAL_MS = 1_000;

/** Aborts at the first SIGTERM or SIGINT; a later one ends the process at once. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstMs = Infinity;
  const onSignal = (): void => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - firstMs > SAME_SIGNAL_MS) Deno.exit(ExitCode.failed);
    firstMs = Math.min(firstMs, nowMs);
    stop.abort();
  };
  Deno.addSignalListener("SIGTERM", onSignal);
  Deno.addSignalListener("SIGINT", onSignal);
  return stop.signal;
}

async function openAccess(config: Config, warn: (message: string) => void): Promise<ClusterAccess> {
  const { command, context, registryEnvironment } = config;
  const [host, port] = [Deno.env.get("KUBERNETES_SERVICE_HOST"), Deno.env.get("KUBERNETES_SERVICE_PORT")];
  // The service and the daemon keep writing to a cluster, so they use no default kubeconfig.
  const home = command === "serve" || command === "enoexec-daemon" || host ? undefined : registryEnvironment.home;
  const { kubeconfigPath } = await import("./lib/k8s/cluster_access.ts");
  const kubeconfig = kubeconfigPath({ given: config.kubeconfig, home, exists: isFile });
  const clock = systemClock;
  if (kubeconfig !== undefined) {
    const { readKubeconfigAccess } = await import("./lib/k8s/kubeconfig_access.ts");
    return await readKubeconfigAccess(kubeconfig, { clock, warn, context });
  }
  const { readInClusterAccess, SERVICE_ACCOUNT_DIRECTORY: directory } = await import("./lib/k8s/cluster_access.ts");
  return await readInClusterAccess({ host, port, home, directory, clock });
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function runServe(config: Config, run: ServeRun): Promise<number> {
  const { terminal, stop, writeLog = terminal.err, onListening = () => {} } = run;
  const { serve } = await import("./serve/serve.ts");
  const format = Deno.stderr.isTerminal() ? "text" : "json";
  const log = openLogger({ level: config.fallbackLogLevel, write: writeLog, format });
  for (const message of config.warnings) log.warn("ignored a variable", { message });
  collectOnce();
  await serve({
    config,
    settings: settingsOf(config),
    access: await openAccess(config, (message) => log.warn("cannot trust the connection to the cluster", { message })),
    clock: systemClock,
    log,
    identity: Deno.env.get("POD_NAME") || `archway-${crypto.randomUUID().slice(0, 8)}`,
    userAgent: USER_AGENT,
    lingerMs: run.lingerMs ?? (config.webhookUrl === undefined ? LINGER_MS.service : LINGER_MS.url),
    onListening,
  }, stop);
  log.close();
  return ExitCode.done;
}

/** Collects 6 MB of startup garbage, which would stay until the heap is full. Needs V8's `--expose-gc`. */
function collectOnce(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") Deno.unrefTimer(setTimeout(() => collect(), STARTED_MS));
}

if (import.meta.main) {
  const terminal = openTerminal();
  let code: number = ExitCode.failed;
  try {
    code = await main(terminal);
  } catch (error) {
    terminal.err(`archway: ${errorText(error)}\n`);
  }
  Deno.exit(terminal.isClosed() ? CLOSED_PIPE : code);
}
