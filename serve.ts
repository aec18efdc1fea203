// `archway serve`: edges opened, rooms put together, run until told to stop, closed in order. Called by main.
//
//   reflectors ─▶ configs ─┬─▶ webhook (each replica)   ─▶ patch in the answer
//   registries ─▶ images ──┴─▶ pod controller (leader)  ─▶ one patch a pod
//                              operator (leader)        ─▶ webhook configuration, conditions
import { dashboard } from "./routes/dashboard.tsx";
import { adminApp, webhookApp } from "./routes/mod.ts";
import { type LiveArchitectures, openLiveArchitectures } from "./controllers/architectures/controller.ts";
import { ALL_NAMESPACES } from "./controllers/audit/catch_up.ts";
import { openAudit } from "./controllers/audit/controller.ts";
import { type AuditedNamespaces, openAuditedNamespaces } from "./controllers/audit/namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "./controllers/configs/controller.ts";
import { openDaemonSetWatch } from "./controllers/daemonsets/controller.ts";
import { watchEphemeral } from "./controllers/ephemeral/controller.ts";
import { runEverywhere, runLeading, type Runnable } from "./controllers/mod.ts";
import { openOperator, type Operator } from "./controllers/operator/controller.ts";
import { watchGating } from "./controllers/operator/gating.ts";
import { openPodPlacement, type PodPlacement } from "./controllers/pod_placement/controller.ts";
import { openPrewarm } from "./controllers/prewarm/controller.ts";
import { type Edges, openEdges, type ServeParts } from "./edges.ts";
import { holdsWithin } from "./lib/clock.ts";
import { watchEventLoop } from "./lib/event_loop.ts";
import { type HttpsListener, openHttpsListener } from "./lib/https_listener.ts";
import type { PullScope } from "./lib/images/known_images.ts";
import { type LeaseView, NO_LEASE_SEEN } from "./lib/k8s/lease.ts";
import { fenceWrites } from "./lib/k8s/write_fence.ts";
import { openLoadLimit } from "./lib/load_limit.ts";
import { decideGating, type GatingVerdict } from "./lib/operand/dead_man.ts";
import type { PlacementSettings, PodView } from "./lib/placement/types.ts";

/**
 * Longest that the first admissions wait for the configs and a sight of the leader (ms): a replica that the API server
 * already calls would otherwise let pods of its first moments through ungated.
 */
const OPENING_MS = 2_000;
/** Longest that running requests, and then the last events, may take at the end (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;
/** Between two looks of the operator at everything, when nothing wakes it before (ms). */
const OPERATOR_RESYNC_MS = 60_000;

/** Serves until `stop` aborts, then drains and closes. Rejects when something cannot be opened. */
export async function serve(parts: ServeParts, stop: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  await using stack = new AsyncDisposableStack();
  const following = new AbortController();
  stack.defer(() => following.abort());
  let isPlacing = (): boolean => false;
  const edges = await openEdges(parts, { stack, stop, following: following.signal, isPlacing: () => isPlacing() });
  const rooms = openRooms(parts, edges, stop);
  isPlacing = () => rooms.podPlacement.isBusy();
  const webhooks = await openWebhooks(parts, rooms, following.signal);
  const admin = openAdmin(parts, rooms, stop);
  const address = { webhookPort: webhooks.port, adminPort: admin.addr.port };
  log.info("listening", address);
  parts.onListening(address);

  stop.addEventListener("abort", () => webhooks.beginDrain(), { once: true });
  const controllers = controllersOf(parts, rooms);
  const background = runEverywhere(controllers, following.signal);
  await runLeading(controllers, stop);
  log.info("draining");
  await clock.sleep(parts.lingerMs, new AbortController().signal);
  await webhooks.close(DRAIN_MS);
  await edges.events.flush(AbortSignal.timeout(FLUSH_MS));
  following.abort();
  await background;
  await admin.shutdown();
  log.info("stopped");
}

/** The rooms, and the questions they ask each other; each is answered at once from memory. */
interface Rooms extends Edges {
  readonly configs: Configs;
  readonly audited: AuditedNamespaces;
  readonly live: LiveArchitectures;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  readonly lease: { view: LeaseView };
  readonly verdict: () => GatingVerdict;
  readonly settings: () => PlacementSettings;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: Configs["of"];
  readonly liveArchitectures: () => readonly string[] | undefined;
}

function openRooms(parts: ServeParts, edges: Edges, stop: AbortSignal): Rooms {
  const { config, settings, clock, log } = parts;
  const { api } = edges;
  const configs = openConfigs({ api, clock, log });
  const audited = openAuditedNamespaces({ api, clock, log });
  const live = openLiveArchitectures({ api, clock, log });
  const lease: Rooms["lease"] = { view: NO_LEASE_SEEN };
  const auditSettings: PlacementSettings = { ...settings, audit: true };
  const verdict = (): GatingVerdict => {
    const { lastRenewObservedMs } = lease.view;
    const silentForMs = lastRenewObservedMs === undefined ? undefined : clock.monotonicMs() - lastRenewObservedMs;
    return decideGating(configs.presence(), { silentForMs });
  };
  const leading = { ...edges, api: fenceWrites(api, () => clock.monotonicMs() < (lease.view.heldUntilMs ?? 0)) };
  const questions = {
    verdict,
    settings: () => settings,
    settingsOf: (namespace: string) => audited.has(namespace) ? auditSettings : settings,
    configsOf: configs.of,
    liveArchitectures: () => config.liveArchitectures ? live.current() : undefined,
  };
  const podPlacement = openPodPlacement({
    ...leading,
    ...questions,
    clock,
    log: log.with({ controller: "pod-placement" }),
    random: Math.random,
    workers: config.workers,
  });
  const operator = openOperator({
    ...leading,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: config.webhookUrl === undefined
        ? { kind: "service", namespace: config.namespace, name: config.webhookService }
        : { kind: "url", baseUrl: config.webhookUrl.replace(/\/+$/, "") },
      watchEphemeral: followsNodes(parts),
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      runbookBaseUrl: config.runbookBaseUrl ?? "",
      migration: config.migration,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: OPERATOR_RESYNC_MS,
    },
    canServe: () => !stop.aborted && configs.hasSynced(),
    canReconcile: () => podPlacement.hasSynced(),
    caBundle: () => edges.certificate.current().caBundle,
    gatingStopped: () => reasonOf(verdict()),
    enoexec: () => "unmanaged",
  });
  configs.onChange((namespace) => {
    if (namespace === undefined) log.setLevel(logLevelOf(configs.cluster()) ?? config.fallbackLogLevel);
    podPlacement.configChanged(namespace);
    operator.poke();
  });
  return { ...edges, ...questions, configs, audited, live, lease, podPlacement, operator };
}

function reasonOf(verdict: GatingVerdict): string | undefined {
  return verdict.kind === "stopped" ? verdict.reason : undefined;
}

/** What runs where: see controllers/mod.ts. Switches of the configuration decide about the optional ones. */
function controllersOf(parts: ServeParts, rooms: Rooms): Parameters<typeof runLeading>[0] {
  const { config, clock, log, identity } = parts;
  const { api, configs, globalPullSecret, lease, live, audited, verdict } = rooms;
  const shared = { ...rooms, clock, log };
  const optional = (wanted: boolean, open: () => Runnable): readonly Runnable[] => wanted ? [open()] : [];
  return {
    api,
    clock,
    log,
    namespace: config.namespace,
    identity,
    everywhere: [
      configs,
      audited,
      rooms.certificate,
      rooms.imageService,
      ...globalPullSecret === undefined ? [] : [globalPullSecret],
      ...optional(followsNodes(parts), () => live),
      ...optional(config.prewarm, () => openPrewarm({ ...shared, tagTtlMs: config.tagTtl })),
      { run: (signal) => watchGating({ api, clock, log, verdict }, signal) },
      { run: (signal) => watchEventLoop({ clock, observe: rooms.metrics.eventLoopDelay }, signal) },
    ],
    leading: [
      rooms.podPlacement,
      rooms.operator,
      openAudit({ ...shared, audited: () => config.audit ? [ALL_NAMESPACES] : audited.names() }),
      ...optional(
        config.daemonsets === "warn",
        () => openDaemonSetWatch({ ...shared, liveArchitectures: () => live.current() }),
      ),
    ],
    isSettled: () => configs.hasSynced() && (globalPullSecret?.isSettled() ?? true),
    onLease: (view) => {
      lease.view = view;
    },
  };
}

function followsNodes({ config }: ServeParts): boolean {
  return config.liveArchitectures || config.daemonsets !== "ignore";
}

async function openWebhooks(parts: ServeParts, rooms: Rooms, signal: AbortSignal): Promise<HttpsListener> {
  const { config, clock, log } = parts;
  const { certificate, known, images, live, metrics, operator, verdict } = rooms;
  const gateLog = log.with({ route: "gate-pod" });
  const app = webhookApp({
    gate: {
      ...rooms,
      clock,
      log: gateLog,
      limit: openLoadLimit({ clock, log: gateLog }),
      recall: (pod, wanted) => known.recall(wanted, scopeOf(pod)),
      isAging: (pod, wanted) => known.isAging(wanted, scopeOf(pod)),
      prefetch: (pod, wanted) => images.prefetch({ scope: scopeOf(pod), images: wanted, priority: "admission" }),
      mayGate: () => verdict().kind === "gating",
      opening: openingOf(parts, rooms, signal),
      noticeEphemeral: followsNodes(parts)
        ? watchEphemeral({ ...rooms, log, architectureOf: (node) => live.ofNode(node), signal })
        : () => {},
      observe: metrics.admission,
    },
    check: { api: rooms.api, signal },
  });
  const handler = (request: Request): Response | Promise<Response> => app.fetch(request);
  const listener = await openHttpsListener({ ...config.listen, certificate: certificate.current(), handler });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    metrics.certificateReloaded();
    operator.poke();
  });
  return listener;
}

/** What the first admissions wait for; undefined from then on. */
function openingOf(
  { clock }: ServeParts,
  { configs, lease }: Rooms,
  signal: AbortSignal,
): () => Promise<void> | undefined {
  const isOpen = (): boolean => configs.hasSynced() && lease.view.lastRenewObservedMs !== undefined;
  let opening: Promise<void> | undefined = holdsWithin(isOpen, { clock, limitMs: OPENING_MS, signal }).then(() => {
    opening = undefined;
  });
  return () => opening;
}

function openAdmin(parts: ServeParts, rooms: Rooms, stop: AbortSignal): Deno.HttpServer<Deno.NetAddr> {
  const { config, clock, identity } = parts;
  const { configs, imageService, lease, metrics, podPlacement, verdict, board } = rooms;
  const app = adminApp({
    metrics,
    gauges: () => ({
      gatedPods: podPlacement.gatedPods(),
      unadmittedPods: lease.view.isLeader ? podPlacement.unadmittedPods() : 0,
      cachedInspections: imageService.cacheSize(),
      queueDepth: podPlacement.queueDepth(),
      isLeading: lease.view.isLeader,
      isGating: verdict().kind === "gating",
      memory: Deno.memoryUsage(),
      registries: imageService.hostStates(),
    }),
    ready: {
      "not stopping": () => !stop.aborted,
      "configs known": () => configs.hasSynced(),
      "gated pods known": () => !lease.view.isLeader || podPlacement.hasSynced(),
    },
    pages: {
      "/": dashboard(() => ({
        nowMs: clock.nowMs(),
        identity,
        lease: lease.view,
        gating: verdict(),
        config: configs.presence(),
        gated: { count: podPlacement.gatedPods(), pods: podPlacement.longestGated() },
        queueDepth: podPlacement.queueDepth(),
        cachedInspections: imageService.cacheSize(),
        registries: imageService.hostStates(),
        board: board.snapshot(),
      })),
      "/registries": (context) => context.json(imageService.hostStates()),
    },
  });
  const { host: hostname, port } = config.adminListen;
  return Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
}

/** Whose pull secrets an admission may use. */
function scopeOf(pod: PodView): PullScope {
  return { namespace: pod.namespace, pullSecrets: pod.imagePullSecrets };
}
