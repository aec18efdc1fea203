// The long-lived components of `archway serve` and the callbacks between them: informers, pod placement, operator, events.
import { openOperator, type Operator } from "../controllers/operator/controller.ts";
import { openReportedContainers, type ReportedContainers } from "../controllers/enoexec/reported.ts";
import { openPodPlacement, type PodPlacement } from "../controllers/pod_placement/controller.ts";
import { type AuditedNamespaces, openAuditedNamespaces } from "../lib/informers/audited_namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "../lib/informers/configs.ts";
import { type LiveArchitectures, openLiveArchitectures } from "../lib/informers/architectures.ts";
import { type BackgroundEventRecorder, openEventRecorder } from "../lib/k8s/event_recorder.ts";
import { EVENT_SOURCE } from "../lib/names.ts";
import { decideGating, type GatingHealth } from "../lib/operand/gating_health.ts";
import { openWebhookPaths, type WebhookPaths } from "../lib/informers/webhook_paths.ts";
import { webhookEndpoint } from "../lib/operand/webhooks.ts";
import { auditOnly } from "../lib/placement/config/settings.ts";
import type { PlacementSettings } from "../lib/placement/config/types.ts";
import type { Runnable } from "../controllers/mod.ts";
import type { Clients, ServeDeps } from "./clients.ts";
import { openGateFailOpen } from "./gate_fail_open.ts";
import type { TaintOptions, TaintParts } from "./taints.ts";

/** The components. The functions answer at once, from memory. */
export interface Components {
  readonly configs: Configs;
  readonly audited: AuditedNamespaces;
  readonly live: LiveArchitectures;
  /** By which paths the API server calls the webhooks. */
  readonly webhookPaths: WebhookPaths;
  readonly events: BackgroundEventRecorder;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  /** Containers that were to run a program of another architecture. */
  readonly reported: ReportedContainers;
  /** Releases pods while no replica leads. */
  readonly gateFailOpen: Runnable;
  /** undefined unless Archway keeps architecture taints. */
  readonly taints: TaintParts | undefined;
  /** Whether this replica may gate pods, and why not. */
  readonly gatingHealth: () => GatingHealth;
  /** Settings for a namespace: it may be audited. */
  readonly settingsOf: (namespace: string) => PlacementSettings;
  /** Architectures that nodes have or can be made with; undefined while they are unknown or are not to count. */
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** What is known before pod placement and operator are made: they are made from it. */
type Views = Omit<Components, "podPlacement" | "operator" | "events" | "reported" | "gateFailOpen" | "taints">;

/** The signal and the stack that bound the lifetime of the components. */
interface Lifetime {
  readonly stop: AbortSignal;
  /** What must be closed is left here. */
  readonly stack: AsyncDisposableStack;
}

/** Between two reconciles of the operator without an event (ms). */
const OPERATOR_RESYNC_MS = 60_000;

/** Makes them. Nothing is watched or written before the controllers run. */
export async function openComponents(
  deps: ServeDeps,
  clients: Clients,
  { stop, stack }: Lifetime,
): Promise<Components> {
  const views = openViews(deps, clients);
  const { configs, audited, live, webhookPaths, gatingHealth, settingsOf, liveArchitectures } = views;
  const events = stack.use(openEvents(deps, clients, () => podPlacement.isBusy()));
  const podPlacement = makePodPlacement(deps, clients, { events, configs, settingsOf, liveArchitectures });
  const operator = makeOperator(deps, clients, {
    configs,
    gatingHealth,
    events,
    podPlacement,
    webhookPaths,
    stop,
    taints: () => taints,
  });
  followChanges(deps, clients, { configs, webhookPaths, podPlacement, operator });
  const taints = await openTaintParts(deps, clients, { components: { events, configs, operator }, stack });
  return {
    configs,
    audited,
    live,
    webhookPaths,
    events,
    podPlacement,
    operator,
    reported: openReportedContainers({ clock: deps.clock }),
    gateFailOpen: openGateFailOpen(deps, clients, { events, stack }),
    gatingHealth,
    settingsOf,
    liveArchitectures,
    taints,
  };
}

/** Loads and opens what keeps the taints, unless that is switched off. */
async function openTaintParts(
  deps: ServeDeps,
  clients: Clients,
  options: TaintOptions,
): Promise<TaintParts | undefined> {
  if (deps.config.archTaints === "off") return undefined;
  const { openTaints } = await import("./taints.ts");
  return openTaints(deps, clients, options);
}

/** Decides again what depends on a change of configs, leader or webhook paths. */
function followChanges(
  { config, log }: ServeDeps,
  { election, pathSecret }: Clients,
  { configs, webhookPaths, podPlacement, operator }: Pick<
    Components,
    "configs" | "webhookPaths" | "podPlacement" | "operator"
  >,
): void {
  configs.onChange((namespace) => {
    if (namespace === undefined) log.setLevel(logLevelOf(configs.cluster()) ?? config.fallbackLogLevel);
    podPlacement.configChanged(namespace);
    operator.requestReconcile();
  });
  let impairment: string | undefined;
  election.onChange((view) => {
    // The condition shows without delay why no pod is gated, and that pods are gated again.
    if (view.impairment !== impairment) operator.requestReconcile();
    impairment = view.impairment;
  });
  webhookPaths.onChange(() => operator.requestReconcile());
  pathSecret?.onChange(() => operator.requestReconcile());
}

/** The events of this replica; while pods are being placed they wait. */
function openEvents(
  { clock, log, identity }: ServeDeps,
  { replicaApi, metrics }: Clients,
  isBusy: () => boolean,
): BackgroundEventRecorder {
  return openEventRecorder({
    // Unfenced: an event only reports, and the last ones are sent after the Lease was released.
    api: replicaApi,
    clock,
    log,
    component: EVENT_SOURCE,
    instance: identity,
    isBusy,
    observe: (result) => {
      if (result !== "created" && result !== "updated") metrics.eventDropped();
    },
  });
}

function openViews(deps: ServeDeps, { readApi, election }: Clients): Views {
  const { config, settings, clock, log } = deps;
  const configs = openConfigs({ api: readApi, clock, log });
  const audited = openAuditedNamespaces({ api: readApi, clock, log });
  const live = openLiveArchitectures({ api: readApi, clock, log });
  const auditSettings = auditOnly(settings);
  return {
    configs,
    audited,
    live,
    webhookPaths: openWebhookPaths({ api: readApi, clock, log, endpoint: webhookEndpoint(config) }),
    gatingHealth: () => {
      const { lastRenewObservedMs, impairment } = election.view();
      const silentForMs = lastRenewObservedMs === undefined ? undefined : clock.monotonicMs() - lastRenewObservedMs;
      return decideGating(configs.presence(), { silentForMs, impairment });
    },
    settingsOf: (namespace) => audited.has(namespace) ? auditSettings : settings,
    liveArchitectures: () => liveArchitecturesOf(deps, live),
  };
}

function makePodPlacement(
  { config, clock, log }: ServeDeps,
  { leaderApi, images, metrics, board }: Clients,
  { events, configs, settingsOf, liveArchitectures }: Pick<
    Components,
    "events" | "configs" | "settingsOf" | "liveArchitectures"
  >,
): PodPlacement {
  return openPodPlacement({
    api: leaderApi,
    images,
    events,
    metrics,
    board,
    clock,
    log: log.with({ controller: "pod-placement" }),
    settingsOf,
    configsOf: configs.of,
    liveArchitectures,
    random: Math.random,
    workers: config.workers,
  });
}

function makeOperator(
  deps: ServeDeps,
  { leaderApi, replicaApi, certificate, metrics, pathSecret }: Clients,
  { configs, gatingHealth, events, podPlacement, webhookPaths, stop, taints }:
    & Pick<Components, "configs" | "gatingHealth" | "events" | "podPlacement" | "webhookPaths">
    & { readonly stop: AbortSignal; readonly taints: () => TaintParts | undefined },
): Operator {
  const { config, settings, clock, log } = deps;
  return openOperator({
    api: leaderApi,
    unfencedApi: replicaApi,
    events,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: webhookEndpoint(config),
      watchEphemeral: followsNodes(deps),
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      execFormatImage: config.execFormatImage,
      runbookBaseUrl: config.runbookBaseUrl ?? "",
      migration: config.migration,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: OPERATOR_RESYNC_MS,
    },
    canServe: () => !stop.aborted && configs.hasSynced(),
    canReconcile: () => podPlacement.hasSynced(),
    secretPaths: pathSecret === undefined
      ? undefined
      : { pathOf: pathSecret.pathOf, isKnown: webhookPaths.isSettled, isInUse: webhookPaths.carriesSecret },
    caBundle: () => certificate.current().caBundle,
    gatingStopped: () => {
      const health = gatingHealth();
      return health.kind === "stopped" ? health.reason : undefined;
    },
    taints: () => taints()?.operand,
    queueMetrics: metrics.queue,
  });
}

/** The architectures of nodes that pods are to be placed on; undefined while pods are placed whatever nodes there are. */
export function liveArchitecturesOf(
  { config }: Pick<ServeDeps, "config">,
  live: Pick<LiveArchitectures, "current">,
): readonly string[] | undefined {
  return config.liveArchitectures ? live.current() : undefined;
}

/** Whether a setting needs the architectures of nodes, and with it brings the right to read them. */
export function followsNodes({ config }: Pick<ServeDeps, "config">): boolean {
  return config.liveArchitectures || config.daemonsets === "warn";
}

/** Whether all that decisions depend on is known: configs, audited namespaces, the cluster's pull secret. */
export function isSettled({ configs, audited }: Components, { globalPullSecret }: Clients): boolean {
  return configs.hasSynced() && audited.isSettled() && (globalPullSecret?.isSettled() ?? true);
}
