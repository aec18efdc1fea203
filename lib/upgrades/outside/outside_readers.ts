// The readings of an upgrade that come from beside the API server.
import { isMaster } from "../decide/pools.ts";
import { BLOCKING_CHECKS, checksOf } from "../decide/health_decision.ts";
import { historyEntryOf } from "../decide/status_changes.ts";
import { graphQueryOf, type GraphReleases } from "../decide/release/graph.ts";
import type { PolicyRefresh } from "../decide/types/cluster.ts";
import type { HealthCheckId, HealthResult, Readers, Readings, UpgradeFacts } from "../decide/types/observed.ts";
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

export interface OutsideContext {
  /** Undefined without a plan, or where a part could not be read: then only what an upgrade may have left is read. */
  readonly facts: UpgradeFacts | undefined;
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

export function outsideReaders(services: OutsideServices, context: OutsideContext): OutsideReaders {
  const { signal } = context;
  return {
    silences: () => listSilences(services.alertmanager, signal),
    health: async () => await readChecks(services, context, checksOf(factsOf(context))),
    healthAfter: async () => await readChecks(services, context, BLOCKING_CHECKS),
    dependencies: async () => await checkDependencies(services, factsOf(context).config.dependencies, signal),
    graph: async () => (await askGraph(services, context)).offered,
    payload: async () => await readPayload(services, context),
    policy: () => refreshPolicy(services, context),
    alertsDuring: async () => await readAlertsDuring(services, context),
  };
}

/** With source LOCAL the plan is the policy itself, and its resourceVersion guards what is written. */
async function refreshPolicy({ policy }: OutsideServices, context: OutsideContext): Promise<PolicyRefresh> {
  const { config } = factsOf(context);
  return config.configManager.source === "LOCAL" ? { kind: "unchanged" } : await policy.refresh(context.signal, config);
}

function factsOf({ facts }: OutsideContext): UpgradeFacts {
  if (facts === undefined) throw new Error("Cannot read this: there is no UpgradeConfig, or it could not be read.");
  return facts;
}

async function readChecks(
  { prometheus, findings }: OutsideServices,
  context: OutsideContext,
  checks: readonly HealthCheckId[],
): Promise<readonly HealthResult[]> {
  const { config: { healthCheck }, plan } = factsOf(context);
  const { reader, signal } = context;
  const alerts = (): Promise<readonly string[]> => firingCriticals(prometheus, healthCheck, signal);
  // Managed clusters of Azure do not have the Deployment Validation Operator.
  const readFindings = plan.spec.type === "ARO" ? undefined : findings;
  return await readHealth({ alerts, reader, readFindings }, checks, signal);
}

async function askGraph(
  { bundles, userAgent, clock }: OutsideServices,
  context: OutsideContext,
): Promise<GraphReleases> {
  const { plan: { spec: { desired } }, clusterVersion } = factsOf(context);
  const query = graphQueryOf(clusterVersion, { desired, controlPlane: await controlPlaneArchitecture(context) ?? "" });
  if (query.architecture === "") {
    throw new Error("Cannot ask the update graph: no node of the control plane says which architecture it has.");
  }
  return await readReleases(query, { caCerts: await bundles(), userAgent, clock }, context.signal);
}

/**
 * The architecture of the control plane's nodes, which are alike. If it is hosted, that of all nodes if they are alike.
 */
async function controlPlaneArchitecture({ reader }: OutsideContext): Promise<string | undefined> {
  const nodes = (await reader.nodes()).filter(({ architecture }) => architecture !== "");
  const masters = nodes.filter(isMaster);
  const distinct = new Set((masters.length > 0 ? masters : nodes).map(({ architecture }) => architecture));
  return masters.length > 0 || distinct.size === 1 ? [...distinct].toSorted()[0] : undefined;
}

async function readPayload(services: OutsideServices, context: OutsideContext): Promise<Readings["payload"]> {
  const { desired } = factsOf(context).plan.spec;
  const image = desired.image === "" ? await imageOf(desired.version, services, context) : desired.image;
  const architecture = await controlPlaneArchitecture(context);
  return await services.payloads.read(image, { architecture, signal: context.signal });
}

async function imageOf(version: string, services: OutsideServices, context: OutsideContext): Promise<string> {
  const { own, offered } = await askGraph(services, context);
  const found = [own, ...offered].find((release) => release?.version === version);
  if (found !== undefined) return found.image;
  throw new Error(
    `Cannot find the payload of version ${version}: the update graph has none for this architecture in the channel.`,
  );
}

async function readAlertsDuring(
  { prometheus, clock }: OutsideServices,
  context: OutsideContext,
): Promise<readonly string[]> {
  const { plan } = factsOf(context);
  const entry = historyEntryOf(plan.status, plan.spec.desired);
  const startMs = parseTime(entry?.startTime);
  if (startMs === undefined) return [];
  const interval = { startMs, endMs: parseTime(entry?.completeTime) ?? context.nowMs };
  return await pagingBetween(prometheus, { ...interval, nowMs: clock.nowMs() }, context.signal);
}
