// The readings of an upgrade that come from beside the API server.
import { isMaster } from "../decide/pools.ts";
import { checksOf } from "../decide/health_decision.ts";
import { historyEntryOf } from "../decide/status_changes.ts";
import { graphQueryOf, type GraphReleases } from "../decide/release/graph.ts";
import type { PolicyRefresh } from "../decide/types/cluster.ts";
import type { Base, HealthCheckId, HealthResult, Readers, Readings } from "../decide/types/observed.ts";
import type { ClusterReader } from "../cluster/cluster_reader.ts";
import { checkDependencies, type DependencyDeps } from "./health/dependencies.ts";
import { type ReadFindings, readHealth } from "./health/read_health.ts";
import type { TrustedBundles } from "./http/trusted_bundles.ts";
import type { Upstream } from "./http/upstream.ts";
import { firingCriticals, listSilences, pagingBetween } from "./monitoring/alerts.ts";
import type { PolicySync } from "./policy/policy_sync.ts";
import type { ClusterPayloads } from "./releases/cluster_payloads.ts";
import { readReleases } from "./releases/update_graph.ts";
import { parseTime } from "../../vocabulary/time.ts";

export type OutsideReaders = Pick<
  Readers,
  "silences" | "health" | "healthAfter" | "dependencies" | "graph" | "payload" | "policy" | "alertsDuring"
>;

export interface OutsideScope {
  /** Undefined without a plan, or where a part could not be read: then only what an upgrade may have left is read. */
  readonly base: Base | undefined;
  readonly reader: ClusterReader;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

interface OutsideServices extends DependencyDeps {
  readonly prometheus: Upstream;
  readonly alertmanager: Upstream;
  readonly bundles: TrustedBundles;
  readonly findings: ReadFindings;
  readonly payloads: Pick<ClusterPayloads, "read">;
  readonly policy: Pick<PolicySync, "refresh">;
}

const CHECKS_AFTER: readonly HealthCheckId[] = ["CriticalAlerts", "ClusterOperators"];

export function outsideReaders(services: OutsideServices, scope: OutsideScope): OutsideReaders {
  const { signal } = scope;
  return {
    silences: () => listSilences(services.alertmanager, signal),
    health: async () => await readChecks(services, scope, checksOf(baseOf(scope))),
    healthAfter: async () => await readChecks(services, scope, CHECKS_AFTER),
    dependencies: async () => await checkDependencies(services, baseOf(scope).config.dependencies, signal),
    graph: async () => (await askGraph(services, scope)).offered,
    payload: async () => await readPayload(services, scope),
    policy: () => refreshPolicy(services, scope),
    alertsDuring: async () => await readAlertsDuring(services, scope),
  };
}

/** With source LOCAL the plan is the policy itself, and its resourceVersion guards what is written. */
async function refreshPolicy({ policy }: OutsideServices, { base, signal }: OutsideScope): Promise<PolicyRefresh> {
  return base?.config.configManager.source === "LOCAL" ? { kind: "unchanged" } : await policy.refresh(signal);
}

function baseOf({ base }: OutsideScope): Base {
  if (base === undefined) throw new Error("Cannot read this: there is no UpgradeConfig, or it could not be read.");
  return base;
}

async function readChecks(
  { prometheus, findings }: OutsideServices,
  scope: OutsideScope,
  checks: readonly HealthCheckId[],
): Promise<readonly HealthResult[]> {
  const { config: { healthCheck }, plan } = baseOf(scope);
  const { reader, signal } = scope;
  const alerts = (): Promise<readonly string[]> => firingCriticals(prometheus, healthCheck, signal);
  // Managed clusters of Azure do not have the Deployment Validation Operator.
  const readFindings = plan.spec.type === "ARO" ? undefined : findings;
  return await readHealth({ alerts, reader, readFindings }, checks, signal);
}

interface GraphAnswer extends GraphReleases {
  readonly architecture: string | undefined;
}

async function askGraph({ bundles, userAgent, clock }: OutsideServices, scope: OutsideScope): Promise<GraphAnswer> {
  const { plan: { spec: { desired } }, clusterVersion } = baseOf(scope);
  const architecture = await controlPlaneArchitecture(scope);
  const query = graphQueryOf(clusterVersion, { desired, controlPlane: architecture ?? "" });
  if (query.architecture === "") {
    throw new Error("Cannot ask the update graph: no node of the control plane says which architecture it has.");
  }
  const { signal } = scope;
  // The bundles may have changed by now.
  const options = { caCerts: await bundles(signal), userAgent, clock };
  return { ...await readReleases(query, options, signal), architecture };
}

/** That of the control plane's nodes, which are all alike; with a hosted control plane that of all nodes, if alike. */
async function controlPlaneArchitecture({ reader }: OutsideScope): Promise<string | undefined> {
  const nodes = (await reader.nodes()).filter(({ architecture }) => architecture !== "");
  const masters = nodes.filter(isMaster);
  const distinct = new Set((masters.length > 0 ? masters : nodes).map(({ architecture }) => architecture));
  return masters.length > 0 || distinct.size === 1 ? [...distinct].toSorted()[0] : undefined;
}

async function readPayload(services: OutsideServices, scope: OutsideScope): Promise<Readings["payload"]> {
  const { desired } = baseOf(scope).plan.spec;
  const { signal } = scope;
  if (desired.image !== "") {
    const architecture = await controlPlaneArchitecture(scope);
    return await services.payloads.read(desired.image, { architecture, signal });
  }
  const { own, offered, architecture } = await askGraph(services, scope);
  const found = [...own === undefined ? [] : [own], ...offered].find(({ version }) => version === desired.version);
  if (found !== undefined) return await services.payloads.read(found.image, { architecture, signal });
  throw new Error(
    `Cannot find the payload of version ${desired.version}: the update graph has none for this architecture in the channel.`,
  );
}

async function readAlertsDuring(
  { prometheus, clock }: OutsideServices,
  scope: OutsideScope,
): Promise<readonly string[]> {
  const { plan } = baseOf(scope);
  const entry = historyEntryOf(plan.status, plan.spec.desired);
  const startMs = parseTime(entry?.startTime);
  if (startMs === undefined) return [];
  const interval = { startMs, endMs: parseTime(entry?.completeTime) ?? scope.nowMs };
  return await pagingBetween(prometheus, { ...interval, nowMs: clock.nowMs() }, scope.signal);
}
