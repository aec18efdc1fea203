// The lifecycle of any `archway serve` process: opens clients, election and listener, runs, drains, closes.
import { Registry } from "prom-client";
import type { Runnable } from "../controllers/controller.ts";
import { type Clock, holdsWithin } from "../lib/clock.ts";
import type { Config } from "../lib/config/parse.ts";
import type { KubeApi, ReadApi } from "../lib/k8s/api.ts";
import { ClientMetrics } from "../lib/k8s/client_metrics.ts";
import type { ClusterAccess } from "../lib/k8s/cluster_access.ts";
import { BackgroundEventRecorder } from "../lib/k8s/event_recorder.ts";
import { Election } from "../lib/k8s/election.ts";
import type { LeaderHealth } from "../lib/k8s/lease_lock.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import type { RootLogger } from "../lib/log.ts";
import { openGauges } from "../lib/metrics.ts";
import type { PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import type { HttpsListener } from "../lib/server/https_listener.ts";
import type { ReadinessChecks } from "../routes/health.ts";
import type { AdminDeps, AdminPages } from "../routes/mod.ts";
import { openAdmin } from "./admin.ts";

export interface ServeDeps {
  readonly config: Config;
  readonly settings: PlacementSettings;
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly log: RootLogger;
  readonly identity: string;
  readonly userAgent: string;
  /** How long requests are accepted after the stop signal, while the Service updates its endpoints (ms). */
  readonly lingerMs: number;
  readonly onListening: (address: { readonly webhookPort: number; readonly adminPort: number }) => void;
}

/** What every capability gets. Its clients of the API server differ in what they may write. */
export interface SharedResources {
  /** The unfenced client, typed without its writes. */
  readonly readApi: ReadApi;
  /** For the leader's controllers: writes fail once the Lease has expired, even in a process that was suspended. */
  readonly leaderApi: KubeApi;
  /** For writes of any replica: Lease, events, certificate, secret path, the "no leader" condition, uninstalling. */
  readonly unfencedApi: KubeApi;
  readonly election: Election;
  readonly events: BackgroundEventRecorder;
  /** Exposed at `/metrics`; the capability registers its own metrics here. */
  readonly metricsRegistry: Registry;
  readonly clientMetrics: ClientMetrics;
  readonly stack: AsyncDisposableStack;
  readonly stop: AbortSignal;
  /** Aborts after `stop`, once requests have drained and the last events are sent. */
  readonly background: AbortSignal;
}

export interface OpenCapability {
  readonly everywhere: readonly Runnable[];
  /** Runs only on the replica with the Lease: writers that can wait for a leader. */
  readonly leading: readonly Runnable[];
  /** Additional readiness checks. */
  readonly ready: ReadinessChecks;
  readonly beforeScrape?: () => void | Promise<void>;
  readonly webhooks?: HttpsListener;
  /** Additional pages of the plain listener, for loopback clients only. */
  readonly pages: AdminPages;
  /** Whether the leader can do its work, for its Lease. */
  readonly leaderHealth?: () => LeaderHealth;
  /** Whether the inputs of decisions are known. A new leader waits for them, up to SYNC_MS. */
  readonly hasSynced?: () => boolean;
}

export interface Capability {
  readonly leaseName: string;
  /** `source.component` of its events. */
  readonly eventSource: string;
  readonly open: (deps: ServeDeps, shared: SharedResources) => Promise<OpenCapability>;
}

/** How long a new leader waits for the inputs of its decisions (ms): gated pods must not wait longer. */
const SYNC_MS = 5_000;
/** How long running requests, and then the last events, may take at shutdown (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;

/** Serves until `stop` aborts, then drains and closes. Rejects when opening fails. */
export async function serveCapability(deps: ServeDeps, capability: Capability, stop: AbortSignal): Promise<void> {
  const { config: { adminListen, only }, log } = deps;
  await using stack = new AsyncDisposableStack();
  const background = new AbortController();
  stack.defer(() => background.abort());
  const lifetime = { stack, stop, background: background.signal };
  const shared = openShared(deps, { capability, lifetime });
  const opened = await capability.open(deps, shared);
  {
    await using admin = await openAdmin(adminListen, adminOf(shared, opened, only));
    const [webhookPort, adminPort] = [opened.webhooks?.port ?? 0, admin.port];
    log.info("listening", { webhookPort, adminPort, only });
    deps.onListening({ webhookPort, adminPort });
    await runAndDrain(deps, { shared, opened, background });
  }
  log.info("stopped");
}

interface Running {
  readonly shared: SharedResources;
  readonly opened: OpenCapability;
  readonly background: AbortController;
}

async function runAndDrain({ clock, lingerMs, log }: ServeDeps, running: Running): Promise<void> {
  const { shared: { election, events, stop }, opened, background } = running;
  const { everywhere, leading, webhooks, leaderHealth = () => ({ kind: "healthy" }), hasSynced = () => true } = opened;
  stop.addEventListener("abort", () => webhooks?.beginDrain(), { once: true });
  const run = (runnables: readonly Runnable[], signal: AbortSignal): Promise<unknown> =>
    Promise.all(runnables.map((runnable) => runnable.run(signal)));
  const lead = async (term: AbortSignal): Promise<void> => {
    const isKnown = await holdsWithin(hasSynced, { clock, limitMs: SYNC_MS, signal: term });
    if (!isKnown && !term.aborted) log.warn("leading before all configs are known");
    await run(leading, term);
  };
  const ended = run(everywhere, background.signal);
  await election.run(lead, stop, leaderHealth);
  log.info("draining");
  if (webhooks !== undefined) await clock.sleep(lingerMs, new AbortController().signal);
  await webhooks?.close(DRAIN_MS);
  await events.flush(AbortSignal.timeout(FLUSH_MS));
  background.abort();
  await ended;
}

function adminOf(
  { election, metricsRegistry, stop }: SharedResources,
  opened: OpenCapability,
  capability: string,
): AdminDeps {
  const { beforeScrape = () => {}, pages, ready } = opened;
  const setLeader = openGauges<boolean>(metricsRegistry, {
    archway_capability_leader: {
      help: "1 while this replica holds the Lease of its capability.",
      labels: ["capability"],
      read: (isLeader) => [[{ capability }, Number(isLeader)]],
    },
  });
  return {
    registry: metricsRegistry,
    beforeScrape: async () => {
      setLeader(election.view().isLeader);
      await beforeScrape();
    },
    ready: [{ "not stopping": () => !stop.aborted }, ready],
    pages,
  };
}

interface Opening {
  readonly capability: Capability;
  readonly lifetime: Pick<SharedResources, "stack" | "stop" | "background">;
}

function openShared(deps: ServeDeps, { capability, lifetime }: Opening): SharedResources {
  const { access, clock, config: { namespace }, identity, log, userAgent } = deps;
  const { stack, stop, background } = lifetime;
  const metricsRegistry = new Registry();
  const clientMetrics = new ClientMetrics(metricsRegistry);
  const unfencedApi = stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall }));
  const election = new Election({ api: unfencedApi, namespace, name: capability.leaseName, identity, clock, log });
  const events = stack.use(
    new BackgroundEventRecorder({
      // Events only report, and the last ones are sent after the Lease is released.
      api: unfencedApi,
      clock,
      log,
      component: capability.eventSource,
      instance: identity,
      onLost: (loss, reason) => loss === "left-out" ? clientMetrics.eventLeftOut(reason) : clientMetrics.eventDropped(),
    }),
  );
  return {
    readApi: unfencedApi,
    leaderApi: election.fence(unfencedApi),
    unfencedApi,
    election,
    events,
    metricsRegistry,
    clientMetrics,
    stack,
    stop,
    background,
  };
}
