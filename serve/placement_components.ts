// The long-lived components of pod placement and their callbacks: watches, pod controller, operator, fail open, taints.
import { openGateFailOpen } from "../controllers/gate_fail_open/controller.ts";
import { Operator } from "../controllers/operator/controller.ts";
import { ReportedContainers } from "../lib/exec_format/reported.ts";
import { PodPlacement } from "../controllers/pod_placement/controller.ts";
import { type AuditedNamespaces, openAuditedNamespaces } from "../lib/placement/cluster/audited_namespaces.ts";
import { type Configs, logLevelOf, openConfigs } from "../lib/operator/cluster/configs.ts";
import { type ClusterArchitectures, openClusterArchitectures } from "../lib/placement/cluster/architectures.ts";
import { decideGating, type GatingHealth } from "../lib/operator/decide/gating_health.ts";
import { openWebhookPaths, type WebhookPaths } from "../lib/operator/cluster/webhook_paths.ts";
import { webhookEndpoint } from "../lib/operator/decide/webhook_clients.ts";
import { auditOnly, type PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import type { Runnable } from "../controllers/controller.ts";
import { openUngater } from "../lib/placement/cluster/ungate.ts";
import { RestApi } from "../lib/k8s/rest_api.ts";
import { openRateLimiter } from "../lib/k8s/write_limits.ts";
import { LEASE_NAME, WebhookPath } from "../lib/names.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementResources } from "./placement_resources.ts";
import type { TaintComponents } from "./taints.ts";

export interface PlacementComponents {
  readonly configs: Configs;
  readonly audited: AuditedNamespaces;
  readonly clusterArchitectures: ClusterArchitectures;
  readonly webhookPaths: WebhookPaths;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  readonly reported: ReportedContainers;
  readonly gateFailOpen: Runnable;
  /** undefined unless Archway keeps architecture taints. */
  readonly taints: TaintComponents | undefined;
  readonly gatingHealth: () => GatingHealth;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  /** Architectures of present and possible nodes; undefined while unknown, or when ignored. */
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** The components that pod placement and the operator use. */
type SharedComponents = Omit<PlacementComponents, "podPlacement" | "operator" | "reported" | "gateFailOpen" | "taints">;

/** Time between two reconciles of the operator when nothing changes (ms). */
const OPERATOR_RESYNC_MS = 60_000;

/** Per replica: the pods that a busy cluster gates in half a minute are ungated within another half minute. */
const UNGATED_A_SECOND = 50;

export async function openPlacementComponents(
  deps: ServeDeps,
  placement: PlacementResources,
): Promise<PlacementComponents> {
  const components = openSharedComponents(deps, placement);
  const { configs, audited, clusterArchitectures, webhookPaths, gatingHealth, settingsOf, liveArchitectures } =
    components;
  const podPlacement = makePodPlacement(deps, placement, components);
  const operator = makeOperator(deps, placement, { components, podPlacement, taints: () => taints });
  followChanges(deps, placement, { configs, webhookPaths, podPlacement, operator });
  const taints = await loadTaints(deps, placement, { configs, operator });
  return {
    configs,
    audited,
    clusterArchitectures,
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
  placement: PlacementResources,
  components: Pick<PlacementComponents, "configs" | "operator">,
): Promise<TaintComponents | undefined> {
  if (deps.config.archTaints !== "manage") return undefined;
  const { openTaintComponents } = await import("./taints.ts");
  return openTaintComponents(deps, placement, components);
}

function followChanges(
  { config, log }: ServeDeps,
  { shared: { election } }: PlacementResources,
  { configs, webhookPaths, podPlacement, operator }: Pick<
    PlacementComponents,
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
    // Updates the condition at once when gating stops or resumes.
    if (view.impairment !== impairment) operator.requestReconcile();
    impairment = view.impairment;
  });
  webhookPaths.onChange(() => operator.requestReconcile());
}

function openSharedComponents(
  deps: ServeDeps,
  { shared: { readApi, election } }: PlacementResources,
): SharedComponents {
  const { config, settings, clock, log } = deps;
  const configs = openConfigs({ api: readApi, clock, log });
  const audited = openAuditedNamespaces({ api: readApi, clock, log });
  const clusterArchitectures = openClusterArchitectures({ api: readApi, clock, log });
  const auditSettings = auditOnly(settings);
  return {
    configs,
    audited,
    clusterArchitectures,
    webhookPaths: openWebhookPaths({ api: readApi, clock, log, endpoint: webhookEndpoint(config) }),
    gatingHealth: () => {
      const { lastRenewObservedMs, impairment } = election.view();
      const silentForMs = lastRenewObservedMs === undefined ? undefined : clock.monotonicMs() - lastRenewObservedMs;
      return decideGating(configs.presence(), silentForMs, impairment);
    },
    settingsOf: (namespace) => audited.has(namespace) ? auditSettings : settings,
    liveArchitectures: () => liveArchitecturesOf(deps, clusterArchitectures),
  };
}

function makePodPlacement(
  { config, clock, log }: ServeDeps,
  { shared: { events, leaderApi, clientMetrics }, images, metrics, decisions }: PlacementResources,
  { configs, settingsOf, liveArchitectures }: SharedComponents,
): PodPlacement {
  return new PodPlacement({
    api: leaderApi,
    images,
    events,
    metrics: metrics.placement,
    queueMetrics: clientMetrics.queue,
    decisions,
    clock,
    log: log.with({ controller: "pod-placement" }),
    settingsOf,
    configsOf: configs.forNamespace,
    liveArchitectures,
    random: Math.random,
    workers: config.workers,
  });
}

interface OperatorInputs {
  readonly components: SharedComponents;
  readonly podPlacement: PodPlacement;
  readonly taints: () => TaintComponents | undefined;
}

function makeOperator(
  deps: ServeDeps,
  { shared: { leaderApi, unfencedApi, events, clientMetrics, stop }, certificate, pathSecret }: PlacementResources,
  { components: { configs, gatingHealth, webhookPaths }, podPlacement, taints }: OperatorInputs,
): Operator {
  const { config, settings, clock, log } = deps;
  return new Operator({
    api: leaderApi,
    unfencedApi,
    events,
    clock,
    log: log.with({ controller: "operator" }),
    settings: {
      namespace: config.namespace,
      endpoint: webhookEndpoint(config),
      watchesQueued: config.kueue,
      deploymentName: config.webhookUrl === undefined ? "archway" : undefined,
      execFormatImage: config.execFormatImage,
      maxGateAgeMs: settings.maxGateAgeMs,
      resyncMs: OPERATOR_RESYNC_MS,
    },
    canServe: () => !stop.aborted && configs.hasSynced(),
    canReconcile: () => podPlacement.hasSynced(),
    secretPaths: pathSecret === undefined ? undefined : {
      pathOf: pathSecret.pathOf,
      isKnown: webhookPaths.hasSynced,
      isInUse: () =>
        webhookPaths.registered().some((path) =>
          Object.values(WebhookPath).some((route) => pathSecret.acceptedPaths(route).includes(path))
        ),
    },
    caBundle: () => certificate.current().caBundle,
    whyNotGating: () => {
      const health = gatingHealth();
      return health.kind === "stopped" ? health.reason : undefined;
    },
    taints: () => taints()?.operand,
    queueMetrics: clientMetrics.queue,
  });
}

/** On every replica, ungates pods while no replica leads. Has its own connections; idle while a replica leads. */
function makeGateFailOpen(
  { config, settings, access, clock, log, userAgent }: ServeDeps,
  { shared: { clientMetrics, election, events, stack }, metrics, decisions }: PlacementResources,
): Runnable {
  const api = stack.use(new RestApi(access, { clock, log, userAgent, observe: clientMetrics.apiCall }));
  return openGateFailOpen({
    api,
    ungater: openUngater({ api, limiter: openRateLimiter(clock, UNGATED_A_SECOND) }),
    events,
    metrics: metrics.placement,
    queueMetrics: clientMetrics.queue,
    decisions,
    clock,
    log: log.with({ controller: "gate-fail-open" }),
    lease: { namespace: config.namespace, name: LEASE_NAME },
    view: () => election.view(),
    maxGateAgeMs: settings.maxGateAgeMs,
  });
}

/** The architectures of nodes; undefined when placement ignores nodes. */
export function liveArchitecturesOf(
  { config }: Pick<ServeDeps, "config">,
  clusterArchitectures: Pick<ClusterArchitectures, "current">,
): readonly string[] | undefined {
  return config.liveArchitectures ? clusterArchitectures.current() : undefined;
}

/** Whether a setting needs node architectures. The manifests of such a setting grant read access to nodes. */
export function followsNodes({ config }: Pick<ServeDeps, "config">): boolean {
  return config.liveArchitectures || config.daemonsets === "warn";
}

/** Whether all inputs of decisions are known: configs, audited namespaces, the cluster's pull secret. */
export function hasSynced(
  { configs, audited }: PlacementComponents,
  { globalPullSecret }: PlacementResources,
): boolean {
  return configs.hasSynced() && audited.hasSynced() && globalPullSecret?.state() !== "starting";
}
