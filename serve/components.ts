// The long-lived components of pod placement and the callbacks between them: watches, pod controller, operator, fail open, taints.
import { openGateFailOpen } from "../controllers/gate_fail_open/controller.ts";
import { Operator } from "../controllers/operator/controller.ts";
import { ReportedContainers } from "../lib/exec_format/reported.ts";
import { PodPlacement } from "../controllers/pod_placement/controller.ts";
import { type AuditedNamespaces, openAuditedNamespaces } from "../lib/placement/cluster/audited_namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "../lib/operator/cluster/configs.ts";
import { type LiveArchitectures, openLiveArchitectures } from "../lib/placement/cluster/architectures.ts";
import { decideGating, type GatingHealth } from "../lib/operator/decide/gating_health.ts";
import { openWebhookPaths, type WebhookPaths } from "../lib/operator/cluster/webhook_paths.ts";
import { webhookEndpoint } from "../lib/operator/decide/webhook_clients.ts";
import { auditOnly, type PlacementSettings } from "../lib/placement/decide/config/types.ts";
import type { Runnable } from "../controllers/controller.ts";
import { openGateLifter } from "../lib/placement/cluster/lift_gates.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { openRateLimiter } from "../lib/k8s/rate_limiter.ts";
import { LEASE_NAME, WebhookPath } from "../lib/names.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementParts } from "./placement_parts.ts";
import type { TaintParts } from "./taints.ts";

export interface Components {
  readonly configs: Configs;
  readonly audited: AuditedNamespaces;
  readonly live: LiveArchitectures;
  readonly webhookPaths: WebhookPaths;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  readonly reported: ReportedContainers;
  readonly gateFailOpen: Runnable;
  /** undefined unless Archway keeps architecture taints. */
  readonly taints: TaintParts | undefined;
  readonly gatingHealth: () => GatingHealth;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  /** Architectures that nodes have or can be made with; undefined while they are unknown or are not to count. */
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** The components that pod placement and operator are made from. */
type Views = Omit<Components, "podPlacement" | "operator" | "reported" | "gateFailOpen" | "taints">;

/** Between two reconciles of the operator without an event (ms). */
const OPERATOR_RESYNC_MS = 60_000;

/** By one replica: the pods that a busy cluster gates in half a minute without a leader are released within another. */
const RELEASES_A_SECOND = 50;

export async function openComponents(deps: ServeDeps, placement: PlacementParts): Promise<Components> {
  const views = openViews(deps, placement);
  const { configs, audited, live, webhookPaths, gatingHealth, settingsOf, liveArchitectures } = views;
  const podPlacement = makePodPlacement(deps, placement, views);
  const operator = makeOperator(deps, placement, { views, podPlacement, taints: () => taints });
  followChanges(deps, placement, { configs, webhookPaths, podPlacement, operator });
  const taints = await loadTaints(deps, placement, { configs, operator });
  return {
    configs,
    audited,
    live,
    webhookPaths,
    podPlacement,
    operator,
    reported: new ReportedContainers(deps.clock),
    gateFailOpen: makeGateFailOpen(deps, placement),
    gatingHealth,
    settingsOf,
    liveArchitectures,
    taints,
  };
}

async function loadTaints(
  deps: ServeDeps,
  placement: PlacementParts,
  components: Pick<Components, "configs" | "operator">,
): Promise<TaintParts | undefined> {
  if (deps.config.archTaints !== "manage") return undefined;
  const { openTaintParts } = await import("./taints.ts");
  return openTaintParts(deps, placement, components);
}

function followChanges(
  { config, log }: ServeDeps,
  { capability: { election } }: PlacementParts,
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
}

function openViews(deps: ServeDeps, { capability: { readApi, election } }: PlacementParts): Views {
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
      return decideGating(configs.presence(), silentForMs, impairment);
    },
    settingsOf: (namespace) => audited.has(namespace) ? auditSettings : settings,
    liveArchitectures: () => liveArchitecturesOf(deps, live),
  };
}

function makePodPlacement(
  { config, clock, log }: ServeDeps,
  { capability: { events, leaderApi, clientMetrics }, images, metrics, board }: PlacementParts,
  { configs, settingsOf, liveArchitectures }: Views,
): PodPlacement {
  return new PodPlacement({
    api: leaderApi,
    images,
    events,
    metrics: metrics.placement,
    queueMetrics: clientMetrics.queue,
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

interface OperatorParts {
  readonly views: Views;
  readonly podPlacement: PodPlacement;
  readonly taints: () => TaintParts | undefined;
}

function makeOperator(
  deps: ServeDeps,
  { capability: { leaderApi, replicaApi, events, clientMetrics, stop }, certificate, pathSecret }: PlacementParts,
  { views: { configs, gatingHealth, webhookPaths }, podPlacement, taints }: OperatorParts,
): Operator {
  const { config, settings, clock, log } = deps;
  return new Operator({
    api: leaderApi,
    unfencedApi: replicaApi,
    events,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: webhookEndpoint(config),
      watchQueued: config.kueue,
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      execFormatImage: config.execFormatImage,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: OPERATOR_RESYNC_MS,
    },
    canServe: () => !stop.aborted && configs.hasSynced(),
    canReconcile: () => podPlacement.hasSynced(),
    secretPaths: pathSecret === undefined ? undefined : {
      pathOf: pathSecret.pathOf,
      isKnown: webhookPaths.isSettled,
      isInUse: () =>
        webhookPaths.carried().some((path) =>
          Object.values(WebhookPath).some((route) => pathSecret.acceptedPaths(route).includes(path))
        ),
    },
    caBundle: () => certificate.current().caBundle,
    gatingStopped: () => {
      const health = gatingHealth();
      return health.kind === "stopped" ? health.reason : undefined;
    },
    taints: () => taints()?.operand,
    queueMetrics: clientMetrics.queue,
  });
}

/** Releases pods while no replica leads, on every replica and with connections of its own. Sends nothing while one leads. */
function makeGateFailOpen(
  { config, settings, access, clock, log, userAgent }: ServeDeps,
  { capability: { clientMetrics, election, events, stack }, metrics, board }: PlacementParts,
): Runnable {
  const api = stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall }));
  return openGateFailOpen({
    api,
    lifter: openGateLifter({ api, limiter: openRateLimiter(clock, RELEASES_A_SECOND) }),
    events,
    metrics: metrics.placement,
    queueMetrics: clientMetrics.queue,
    board,
    clock,
    log: log.with({ controller: "gate-fail-open" }),
    lease: { namespace: config.namespace, name: LEASE_NAME },
    view: () => election.view(),
    maxGateAgeMs: settings.maxGateAgeMs,
  });
}

/** The architectures of nodes that pods are to be placed on; undefined while pods are placed whatever nodes there are. */
export function liveArchitecturesOf(
  { config }: Pick<ServeDeps, "config">,
  live: Pick<LiveArchitectures, "current">,
): readonly string[] | undefined {
  return config.liveArchitectures ? live.current() : undefined;
}

/** Whether a setting needs the architectures of nodes; its manifests then include the right to read them. */
export function followsNodes({ config }: Pick<ServeDeps, "config">): boolean {
  return config.liveArchitectures || config.daemonsets === "warn";
}

/** Whether all that decisions depend on is known: configs, audited namespaces, the cluster's pull secret. */
export function isSettled({ configs, audited }: Components, { globalPullSecret }: PlacementParts): boolean {
  return configs.hasSynced() && audited.isSettled() && (globalPullSecret?.isSettled() ?? true);
}
