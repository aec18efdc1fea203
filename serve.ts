// `archway serve`: edges opened, parts put together, run until told to stop, closed in order. Called by main.
//
//   reflectors ─▶ configs ─┬─▶ webhook (each replica)   ─▶ patch in the answer
//   registries ─▶ images ──┴─▶ pod controller (leader)  ─▶ one patch a pod
//                              operator (leader)        ─▶ webhook configuration, conditions
import { adminApp, webhookApp } from "./routes/mod.ts";
import { openLiveArchitectures } from "./controllers/architectures/controller.ts";
import { openAudit } from "./controllers/audit/controller.ts";
import { openAuditedNamespaces } from "./controllers/audit/namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "./controllers/configs/controller.ts";
import { type ControllerParts, runEverywhere, runLeading } from "./controllers/mod.ts";
import { openDaemonSetWatch } from "./controllers/daemonsets/controller.ts";
import { watchEphemeral } from "./controllers/ephemeral/controller.ts";
import { openOperator } from "./controllers/operator/controller.ts";
import { watchGating } from "./controllers/operator/gating.ts";
import { openPodPlacement } from "./controllers/pod_placement/controller.ts";
import { openPrewarm } from "./controllers/prewarm/controller.ts";
import type { Clock } from "./lib/clock.ts";
import type { Config } from "./lib/config/parse.ts";
import { type HttpsListener, openHttpsListener } from "./lib/https_listener.ts";
import { openGlobalPullSecret } from "./lib/images/global_pull_secret.ts";
import { openImageService } from "./lib/images/image_service.ts";
import { openKnownImages, type PullScope } from "./lib/images/known_images.ts";
import { openPodImages } from "./lib/images/pod_images.ts";
import { openPullSecrets } from "./lib/images/pull_secrets.ts";
import { openEventRecorder } from "./lib/k8s/event_recorder.ts";
import type { ClusterAccess } from "./lib/k8s/cluster_access.ts";
import type { LeaseView } from "./lib/k8s/lease.ts";
import { openKubeApi } from "./lib/k8s/rest_api.ts";
import type { RootLogger } from "./lib/log.ts";
import { openMetrics } from "./lib/metrics.ts";
import { EVENT_SOURCE } from "./lib/names.ts";
import { decideGating } from "./lib/operand/dead_man.ts";
import type { PlacementSettings, PodView } from "./lib/placement/types.ts";
import { openServingCertificate } from "./lib/tls/open_certificate.ts";

/** What `serve` runs with. */
export interface ServeParts {
  readonly config: Config;
  readonly settings: PlacementSettings;
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly log: RootLogger;
  /** Unique name of this process. */
  readonly identity: string;
  readonly userAgent: string;
  /** How long requests are still taken after the stop signal, so that endpoints can learn of it (ms). */
  readonly lingerMs: number;
  /** Called once both listeners answer. */
  readonly onListening: (address: { readonly webhookPort: number; readonly adminPort: number }) => void;
}

/** Longest that running requests, and then the last events, may take at the end (ms). */
const DRAIN_MS = 3_000;
const FLUSH_MS = 1_500;

/** Serves until `stop` aborts, then drains and closes. Rejects when something cannot be opened. */
export async function serve(parts: ServeParts, stop: AbortSignal): Promise<void> {
  const { config, settings, clock, log, identity } = parts;
  await using stack = new AsyncDisposableStack();
  const following = new AbortController();
  stack.defer(() => following.abort());

  const api = stack.use(openKubeApi(parts.access, { clock, log, userAgent: parts.userAgent }));
  const lease: { view: LeaseView } = { view: { holder: undefined, isLeader: false, lastRenewObservedMs: undefined } };
  const known = openKnownImages({ clock, maxEntries: config.cacheEntries, tagTtlMs: config.tagTtl });
  const globalPullSecret = config.pullSecrets === "none" ? undefined : openGlobalPullSecret({
    api,
    ...config.globalPullSecret,
    clock,
    log,
    onChange: () => known.forgetPrivate(),
  });
  const imageService = stack.use(
    await openImageService({
      config,
      clock,
      log,
      userAgent: parts.userAgent,
      clusterCredentials: () => globalPullSecret?.credentials() ?? [],
    }),
  );
  const verdict = (): ReturnType<typeof decideGating> =>
    decideGating(configs.presence(), { silentForMs: silenceOf(lease.view, clock) });
  const mayGate = (): boolean => verdict().kind === "gating";
  const metrics = openMetrics({
    gatedPods: () => podPlacement.gatedPods(),
    cachedInspections: () => imageService.cacheSize(),
    queueDepth: () => podPlacement.queueDepth(),
    leading: () => lease.view.isLeader,
    gating: mayGate,
    memory: () => Deno.memoryUsage(),
    registries: () =>
      imageService.hostStates().map(({ host, circuit, remaining }) => ({
        host,
        circuitOpen: circuit !== "closed",
        ...(remaining === undefined ? {} : { remaining }),
      })),
  });
  const images = openPodImages({
    inspector: imageService.inspector,
    pullSecrets: openPullSecrets({ api, mode: config.pullSecrets, ownNamespace: config.namespace, clock, log }),
    known,
    clock,
    log,
    signal: following.signal,
    observe: ({ ms, report: { source, inspection } }) =>
      metrics.imageInspected({
        ms,
        source,
        ...(inspection.kind === "failed" ? { failure: inspection.failure.reason } : {}),
      }),
  });
  const events = stack.use(
    openEventRecorder({
      api,
      clock,
      log,
      component: EVENT_SOURCE,
      instance: identity,
      observe: (fate) => {
        if (fate !== "created" && fate !== "repeated") metrics.eventDropped();
      },
    }),
  );
  const configs: Configs = openConfigs({
    api,
    clock,
    log,
    onChange: (namespace) => {
      if (namespace === undefined) log.setLevel(logLevelOf(configs.cluster()) ?? config.fallbackLogLevel);
      podPlacement.configChanged(namespace);
      operator.poke();
    },
  });
  const audited = openAuditedNamespaces({ api, clock, log });
  const auditSettings: PlacementSettings = { ...settings, audit: true };
  const settingsOf = (namespace: string): PlacementSettings => audited.has(namespace) ? auditSettings : settings;
  const live = openLiveArchitectures({ api, clock, log });
  const followsNodes = config.liveArchitectures || config.daemonsets !== "ignore";
  const liveArchitectures = (): readonly string[] | undefined => config.liveArchitectures ? live.current() : undefined;
  const shared = { api, images, events, metrics, clock, settingsOf, settings: () => settings, liveArchitectures };
  const podPlacement = openPodPlacement({
    ...shared,
    log: log.with({ controller: "pod-placement" }),
    configsOf: (namespace) => configs.of(namespace),
    random: Math.random,
    workers: config.workers,
  });
  const certificate = await openServingCertificate({ config, api, clock, log }, stop);
  const isServing = (): boolean => !stop.aborted && configs.hasSynced();
  const operator = openOperator({
    api,
    events,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: config.webhookUrl === undefined
        ? { kind: "service", namespace: config.namespace, name: config.webhookService }
        : { kind: "url", baseUrl: config.webhookUrl.replace(/\/+$/, "") },
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: 60_000,
    },
    canServe: isServing,
    canReconcile: () => podPlacement.hasSynced(),
    caBundle: () => certificate.current().caBundle,
    gatingStopped: () => {
      const gating = verdict();
      return gating.kind === "stopped" ? gating.reason : undefined;
    },
    enoexec: () => "unmanaged",
  });

  const webhooks = await openWebhooks();
  const admin = openAdmin();
  parts.onListening({ webhookPort: webhooks.port, adminPort: admin.addr.port });
  log.info("listening", { webhookPort: webhooks.port, adminPort: admin.addr.port });

  const controllers: ControllerParts = {
    api,
    clock,
    log,
    namespace: config.namespace,
    identity,
    everywhere: [
      configs,
      audited,
      certificate,
      imageService,
      ...globalPullSecret === undefined ? [] : [globalPullSecret],
      ...followsNodes ? [live] : [],
      ...config.prewarm ? [openPrewarm({ ...shared, log, tagTtlMs: config.tagTtl })] : [],
      { run: (signal) => watchGating({ api, clock, log, verdict }, signal) },
    ],
    leading: [
      podPlacement,
      operator,
      openAudit({
        ...shared,
        log: log.with({ controller: "audit" }),
        configsOf: (namespace) => configs.of(namespace),
        isAnythingAudited: () => settings.audit || audited.size > 0,
      }),
      ...config.daemonsets === "warn"
        ? [openDaemonSetWatch({ ...shared, log, liveArchitectures: () => live.current() })]
        : [],
    ],
    isSettled: () => configs.hasSynced() && (globalPullSecret?.isSettled() ?? true),
    onLease: (view) => {
      lease.view = view;
    },
  };
  const background = runEverywhere(controllers, following.signal);
  await runLeading(controllers, stop);
  log.info("draining");
  await clock.sleep(parts.lingerMs, new AbortController().signal);
  await webhooks.close(DRAIN_MS);
  await events.flush(AbortSignal.timeout(FLUSH_MS));
  following.abort();
  await background;
  await admin.shutdown();
  log.info("stopped");

  async function openWebhooks(): Promise<HttpsListener> {
    const app = webhookApp({
      gate: {
        clock,
        log: log.with({ route: "gate-pod" }),
        settingsOf,
        configsOf: (namespace) => configs.of(namespace),
        recall: (pod, wanted) => known.recall(wanted, scopeOf(pod)),
        isAging: (pod, wanted) => known.isAging(wanted, scopeOf(pod)),
        prefetch: (pod, wanted) => images.prefetch({ scope: scopeOf(pod), images: wanted, priority: "admission" }),
        mayGate,
        liveArchitectures,
        noticeEphemeral: followsNodes
          ? watchEphemeral({ ...shared, log, architectureOf: (node) => live.ofNode(node), signal: following.signal })
          : () => {},
        observe: metrics.admission,
      },
      check: { api, signal: following.signal },
    });
    const listener = await openHttpsListener({
      ...config.listen,
      certificate: certificate.current(),
      handler: (request) => app.fetch(request),
    });
    certificate.onChange((next) => {
      listener.setCertificate(next);
      metrics.certificateReloaded();
      operator.poke();
    });
    return listener;
  }

  function openAdmin(): Deno.HttpServer<Deno.NetAddr> {
    const app = adminApp({
      metrics,
      ready: {
        "not stopping": () => !stop.aborted,
        "configs known": () => configs.hasSynced(),
        "gated pods known": () => !lease.view.isLeader || podPlacement.hasSynced(),
      },
      pages: {
        "/registries": (context) => context.json(imageService.hostStates()),
      },
    });
    const { host: hostname, port } = config.adminListen;
    return Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
  }
}

/** How long nobody has renewed the Lease, as far as this replica saw. */
function silenceOf({ lastRenewObservedMs }: LeaseView, clock: Clock): number | undefined {
  return lastRenewObservedMs === undefined ? undefined : clock.monotonicMs() - lastRenewObservedMs;
}

/** Whose pull secrets an admission may use. */
function scopeOf(pod: PodView): PullScope {
  return { namespace: pod.namespace, pullSecrets: pod.imagePullSecrets };
}
