// A capability with a process of its own: `archway serve --only=…`. What every one of them has: clients, an election of its
// own, its metrics, a plain listener for probes, and its controllers on the replica that holds its Lease.
import { Hono } from "hono";
import { Gauge, Registry } from "prom-client";
import { runEverywhere, runLeading, type Runnable } from "../controllers/mod.ts";
import type { KubeApi, ReadApi } from "../lib/k8s/api.ts";
import { type ClientMetrics, openClientMetrics } from "../lib/k8s/client_metrics.ts";
import { type BackgroundEventRecorder, openEventRecorder } from "../lib/k8s/event_recorder.ts";
import { type Election, openElection } from "../lib/k8s/lease.ts";
import { openKubeApi } from "../lib/k8s/rest_api.ts";
import { fenceWrites } from "../lib/k8s/write_fence.ts";
import { LATENCY_BUCKETS_SECONDS, WAIT_BUCKETS_SECONDS } from "../lib/metric_instruments.ts";
import { liveness, readiness, type ReadinessChecks } from "../routes/health.ts";
import { loopbackOnly } from "../routes/loopback_only.ts";
import type { ServeDeps } from "./clients.ts";

/** What a capability is made of. */
export interface CapabilityParts {
  readonly readApi: ReadApi;
  /** For its controllers: writes fail once the Lease has run out. */
  readonly leaderApi: KubeApi;
  /** For the few writes that any replica makes. */
  readonly replicaApi: KubeApi;
  readonly election: Election;
  readonly events: BackgroundEventRecorder;
  /** Exposed at `/metrics`; the capability registers its own here. */
  readonly registry: Registry;
  readonly clientMetrics: ClientMetrics;
  /** What must be closed at the end is left here. */
  readonly stack: AsyncDisposableStack;
  /** Aborts when the process is to end. */
  readonly stop: AbortSignal;
}

/** A capability, open. */
export interface OpenCapability {
  /** Runs on each replica. */
  readonly everywhere: readonly Runnable[];
  /** Runs on the replica that holds the Lease: everything that writes. */
  readonly leading: readonly Runnable[];
  /** What must hold besides before the replica is ready. */
  readonly ready: ReadinessChecks;
  /** Brings gauges up to date before they are read. */
  readonly beforeScrape?: (() => void | Promise<void>) | undefined;
  /** The port of its webhooks, where it has any; and how they end. */
  readonly webhooks?:
    | { readonly port: number; beginDrain(): void; close(graceMs: number): Promise<void> }
    | undefined;
  /** Further pages of the plain listener, for loopback clients alone. */
  readonly addPages?: ((app: Hono) => void) | undefined;
}

/** Which capability. */
export interface Capability {
  /** The Lease of its replicas, in the namespace of `--namespace`. */
  readonly leaseName: string;
  /** `source.component` of its events. */
  readonly eventSource: string;
  readonly open: (parts: CapabilityParts) => Promise<OpenCapability>;
}

/** Longest that running requests, and then the last events, may take at the end (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;

/** Serves it until `stop` aborts, then drains and closes. Rejects when something cannot be opened. */
export async function serveCapability(deps: ServeDeps, capability: Capability, stop: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  await using stack = new AsyncDisposableStack();
  const background = new AbortController();
  stack.defer(() => background.abort());
  const parts = openParts(deps, capability, { stack, stop });
  const opened = await capability.open(parts);
  const { webhooks } = opened;
  openLeaderGauge(parts, deps.config.only);
  await using admin = openAdmin(deps, { parts, opened });
  const [webhookPort, adminPort] = [webhooks?.port ?? 0, admin.addr.port];
  log.info("listening", { webhookPort, adminPort, only: deps.config.only });
  deps.onListening({ webhookPort, adminPort });
  stop.addEventListener("abort", () => webhooks?.beginDrain(), { once: true });
  const controllers = {
    clock,
    log,
    election: parts.election,
    everywhere: opened.everywhere,
    leading: opened.leading,
    leaderState: () => ({ kind: "able" } as const),
    isSettled: () => true,
  };
  const running = runEverywhere(controllers, background.signal);
  await runLeading(controllers, stop);
  log.info("draining");
  if (webhooks !== undefined) await clock.sleep(deps.lingerMs, new AbortController().signal);
  await webhooks?.close(DRAIN_MS);
  await parts.events.flush(AbortSignal.timeout(FLUSH_MS));
  background.abort();
  await running;
  log.info("stopped");
}

function openParts(
  deps: ServeDeps,
  { leaseName, eventSource }: Capability,
  { stack, stop }: Pick<CapabilityParts, "stack" | "stop">,
): CapabilityParts {
  const { access, clock, config: { namespace }, identity, log, userAgent } = deps;
  const registry = new Registry();
  const clientMetrics = openClientMetrics(registry, { queue: WAIT_BUCKETS_SECONDS, api: LATENCY_BUCKETS_SECONDS });
  const api = stack.use(openKubeApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall }));
  const election = openElection({ api, namespace, name: leaseName, identity, clock, log });
  const isLeaseHeld = (): boolean => clock.monotonicMs() < (election.view().heldUntilMs ?? 0);
  const events = stack.use(openEventRecorder({ api, clock, log, component: eventSource, instance: identity }));
  const leaderApi = fenceWrites(api, isLeaseHeld);
  return { readApi: api, leaderApi, replicaApi: api, election, events, registry, clientMetrics, stack, stop };
}

/** Says whether this replica leads, at each scrape. Of another name than that of placement, whose alerts count leaders. */
function openLeaderGauge({ election, registry }: CapabilityParts, capability: string): void {
  new Gauge({
    name: "archway_capability_leader",
    help: "1 while this replica holds the Lease of its capability.",
    labelNames: ["capability"],
    registers: [registry],
    collect(): void {
      this.set({ capability }, Number(election.view().isLeader));
    },
  });
}

function openAdmin(
  { config }: ServeDeps,
  { parts, opened }: { readonly parts: CapabilityParts; readonly opened: OpenCapability },
): Deno.HttpServer<Deno.NetAddr> {
  const { host: hostname, port } = config.adminListen;
  return Deno.serve({ hostname, port, onListen: () => {} }, capabilityApp(parts, opened).fetch);
}

/** The routes of the plain listener: health and metrics for every client of the port, further pages for loopback clients. */
export function capabilityApp(
  { registry, stop }: Pick<CapabilityParts, "registry" | "stop">,
  { addPages, beforeScrape, ready }: Pick<OpenCapability, "addPages" | "beforeScrape" | "ready">,
): Hono {
  const app = new Hono();
  app.get("/healthz", liveness());
  app.get("/readyz", readiness({ "not stopping": () => !stop.aborted }, ready));
  app.get("/metrics", async (context) => {
    await beforeScrape?.();
    return context.body(await registry.metrics(), 200, { "content-type": registry.contentType });
  });
  app.use(loopbackOnly());
  addPages?.(app);
  return app;
}
