// `archway dev --scenario upgrade`: a migration to several architectures, on a fast clock.
import { waitFor } from "../playground/store.ts";
import { Hono } from "hono";
import { Registry } from "prom-client";
import type { Runnable } from "../controllers/controller.ts";
import { openUpgrades } from "../controllers/upgrades/controller.ts";
import { ExitCode, foldLines, print, type Terminal } from "../lib/cli/output.ts";
import { describeStatus } from "../lib/cli/upgrade_text.ts";
import { type Clock, systemClock, untilAborted } from "../lib/clock.ts";
import { type Config, withValues } from "../lib/config/parse.ts";
import type { KubeApi } from "../lib/k8s/api.ts";
import { BackgroundEventRecorder, type EventRecorder } from "../lib/k8s/event_recorder.ts";
import { readKubeconfigAccess } from "../lib/k8s/kubeconfig_access.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { Resource } from "../lib/k8s/types.ts";
import { silentLogger } from "../lib/log.ts";
import type { PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import { createCluster, createPlan, runOperators } from "../playground/openshift/operators.ts";
import { openFastClock, openSampleOutside, ProgressLines } from "../playground/openshift/outside.ts";
import type { Playground } from "../playground/playground.ts";
import { openUpgradeMetrics } from "../lib/upgrades/metrics.ts";
import { Upgrades } from "../lib/upgrades/names.ts";
import { parseUpgradeConfig, type UpgradeConfig } from "../lib/upgrades/decide/types/plan.ts";
import { progressOf } from "../lib/upgrades/decide/progress.ts";
import { upgradePage } from "../routes/upgrade_page.tsx";
import { openUpgradeView, readWorkloadAdvice } from "./upgrades.ts";

/** Simulated seconds per real second. */
const SPEED = 30;
/** Pause between two actions of an operator (real ms). */
const PACE_MS = 400;
/** Time limit of the upgrade (real ms). */
const LIMIT_MS = 120_000;
const USER_AGENT = "archway/dev";

interface UpgradeScenario {
  readonly playground: Playground;
  readonly dev: Config;
  readonly settings: PlacementSettings;
  readonly pagePort: number;
}

export interface UpgradeScenarioDeps {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

/** Runs the migration and shows its steps. With `--once` ends after it, else when stopped. Returns the exit code. */
export async function runUpgradeScenario(scenario: UpgradeScenario, deps: UpgradeScenarioDeps): Promise<number> {
  const { playground, dev, pagePort } = scenario;
  await using stack = new AsyncDisposableStack();
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.stop, ending.signal]);
  const access = await readKubeconfigAccess(playground.files.kubeconfig, { clock: systemClock });
  const api = stack.use(new RestApi(access, { clock: systemClock, log: silentLogger, userAgent: USER_AGENT }));
  const events = stack.use(
    new BackgroundEventRecorder({
      api,
      clock: systemClock,
      log: silentLogger,
      component: Upgrades.eventSource,
      instance: "dev",
    }),
  );
  const clock = openFastClock(systemClock, SPEED);
  const { cluster, registryHost } = playground;
  await createCluster({ cluster, clock }, registryHost);
  const pause = (ended: AbortSignal): Promise<void> => systemClock.sleep(PACE_MS, ended);
  const controller = openSampleController(scenario, { api, clock, events });
  const running = [
    runOperators({ cluster, clock, pause }, signal).catch((error: unknown) => ending.abort(error)),
    controller.run(signal),
  ];
  stack.defer(async () => {
    ending.abort();
    await Promise.all(running);
  });
  if (!dev.once) {
    stack.use(servePage({ api, clock, port: pagePort }, signal));
    deps.terminal.out(welcome(playground, pagePort));
  }
  await createPlan({ cluster, clock });
  const hasArrived = await follow(scenario, { terminal: deps.terminal, signal });
  if (!dev.once) await untilAborted(deps.stop);
  return hasArrived ? ExitCode.done : ExitCode.no;
}

interface Parts {
  readonly api: KubeApi;
  readonly clock: Clock;
}

function openSampleController(
  { playground, dev, settings }: UpgradeScenario,
  { api, clock, events }: Parts & { readonly events: EventRecorder },
): Runnable {
  const { registryHost, files } = playground;
  const registries = [...dev.registry, registryHost];
  const config = withValues(dev, { registry: registries, registryCa: [...dev.registryCa, files.authority] });
  const advice = { log: silentLogger, userAgent: USER_AGENT, config, settings, clock: systemClock };
  return openUpgrades({
    readApi: api,
    api,
    clock,
    events,
    log: silentLogger,
    namespace: Upgrades.namespace,
    outside: openSampleOutside(),
    gauges: openUpgradeMetrics(new Registry()),
    adviseOnWorkloads: (signal) => readWorkloadAdvice(advice, api, signal),
  });
}

/** Prints changes of the plan. Returns whether the migration finished in time. Rejects when the signal aborts. */
async function follow(
  { playground: { cluster: { store } }, dev: { output } }: UpgradeScenario,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<boolean> {
  const lines = new ProgressLines();
  const startMs = systemClock.monotonicMs();
  let plan: UpgradeConfig | undefined;
  const unsubscribe = store.subscribe(({ kind, type, object }) => {
    if (type.plural !== Resource.upgradeConfigs.plural || kind === "DELETED") return;
    plan = parseUpgradeConfig(object);
    const fresh = lines.linesOf(progressOf(plan), systemClock.monotonicMs() - startMs);
    if (output === "table") { for (const line of fresh) terminal.out(foldLines(line, terminal.columns)); }
  });
  const isOver = (): boolean => ["Upgraded", "Failed"].includes(plan?.status.history[0]?.phase ?? "");
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    if (output === "table") terminal.out(`In this cluster time passes ${SPEED} times as fast as on this machine.\n`);
    await waitFor(store, isOver, AbortSignal.any([signal, limit]));
    return plan !== undefined && show(plan, { output, terminal });
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    terminal.err("archway: The upgrade did not end in time.\n");
    return false;
  } finally {
    unsubscribe();
  }
}

function show(
  plan: UpgradeConfig,
  { output, terminal }: { readonly output: Config["output"]; readonly terminal: Terminal },
): boolean {
  const capable = plan.status.conditions.find(({ type, status }) => type === "MultiArchCapable" && status === "True");
  const message = capable?.message ?? "The cluster has not become one for several architectures.";
  print(terminal, output, { document: describeStatus(plan), text: () => `\n${message}\n` });
  return capable !== undefined;
}

function servePage({ api, clock, port }: Parts & { readonly port: number }, signal: AbortSignal): AsyncDisposable {
  const app = new Hono();
  app.get("/", upgradePage(openUpgradeView({ readApi: api, clock, namespace: Upgrades.namespace }, signal)));
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, app.fetch);
  return { [Symbol.asyncDispose]: () => server.shutdown() };
}

function welcome({ files: { kubeconfig } }: Playground, pagePort: number): string {
  const archway = Deno.build.standalone ? "archway" : "deno run -A main.ts";
  return [
    `page         http://127.0.0.1:${pagePort}/`,
    `kubeconfig   ${kubeconfig}`,
    "",
    `Try: ${archway} upgrade status --kubeconfig ${kubeconfig}`,
    "",
    "",
  ].join("\n");
}
