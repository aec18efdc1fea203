// `deno task test:e2e`: checks an installed Archway with the rights of a user. See options.ts for what it takes.
import { existsSync } from "node:fs";
import { ExitCode } from "../../lib/cli/output.ts";
import { systemClock } from "../../lib/clock.ts";
import { kubeconfigPath } from "../../lib/k8s/cluster_access.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { RestApi } from "../../lib/k8s/rest_api.ts";
import { errorText, silentLogger } from "../../lib/log.ts";
import { runToEnd } from "../support/commands.ts";
import { NothingToCheck, requireArchway, runChecks } from "./checks.ts";
import { openEndToEndCluster } from "./cluster.ts";
import { type EndToEndOptions, HELP, parseOptions } from "./options.ts";
import { renderOutcomes } from "./outcome.ts";

const encoder = new TextEncoder();

function print(text: string): void {
  Deno.stdout.writeSync(encoder.encode(text));
}

function complain(text: string): void {
  Deno.stderr.writeSync(encoder.encode(`${text}\n`));
}

function findKubeconfig({ kubeconfig }: EndToEndOptions): string {
  const given = kubeconfig ?? Deno.env.get("KUBECONFIG");
  const path = kubeconfigPath({ given, home: Deno.env.get("HOME"), exists: existsSync });
  if (path !== undefined) return path;
  throw new NothingToCheck("Cannot find a kubeconfig: name it by --kubeconfig FILE, or set KUBECONFIG.");
}

async function readMetrics(kubeconfig: string, { context, archwayNamespace }: EndToEndOptions): Promise<string> {
  const path = `/api/v1/namespaces/${archwayNamespace}/services/archway-metrics:metrics/proxy/metrics`;
  const access = ["--kubeconfig", kubeconfig, ...context === undefined ? [] : ["--context", context]];
  const { code, out, err } = await runToEnd("kubectl", ["get", "--raw", path, ...access]);
  if (code !== 0) throw new Error(`not reachable: ${err.trim()}`);
  return out;
}

async function check(options: EndToEndOptions, signal: AbortSignal): Promise<number> {
  const kubeconfig = findKubeconfig(options);
  const { context, namespaceLabels, timeoutMs } = options;
  const named = context === undefined ? {} : { context };
  const access = await readKubeconfigAccess(kubeconfig, { clock: systemClock, warn: complain, ...named });
  await using api = new RestApi(access, { clock: systemClock, log: silentLogger, userAgent: "archway-e2e" });
  await requireArchway(api, signal);
  await using cluster = await openEndToEndCluster({ api, namespaceLabels, timeoutMs, signal });
  const outcomes = await runChecks({
    ...{ api, signal, cluster, options },
    readMetrics: () => readMetrics(kubeconfig, options),
  });
  const columns = Deno.stdout.isTerminal() ? Deno.consoleSize().columns || undefined : undefined;
  print(renderOutcomes(outcomes, options.output, columns));
  return outcomes.some(({ result }) => result === "failed") ? ExitCode.no : ExitCode.done;
}

function describe(error: unknown): string {
  if (error instanceof ApiError && error.status === 403) {
    return `${errorText(error)}. The rights that are needed are in CONTRIBUTING.md.`;
  }
  return errorText(error);
}

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseOptions(args);
  if (parsed.kind === "help") {
    print(HELP);
    return ExitCode.done;
  }
  if (parsed.kind === "usage") {
    complain(`${parsed.problem}\nSee --help.`);
    return ExitCode.usage;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  try {
    return await check(parsed.options, stop.signal);
  } catch (error) {
    complain(describe(error));
    return ExitCode.failed;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
