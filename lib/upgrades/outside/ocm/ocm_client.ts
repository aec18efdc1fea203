// The calls of the cluster manager (OCM) that upgrades need. Directly a cluster is searched by its id; the agent answers for the
// one cluster that it is in, at its root. Everything else is equal.
import * as z from "zod";
import type { JsonObject } from "../../../json.ts";
import type { ManagedCluster, UpgradePolicy } from "../../decide/policy/ocm_policy.ts";
import type { StoredState } from "../../decide/notifications/ocm_states.ts";
import { readJson } from "../http/read_json.ts";
import type { Upstream, UpstreamAnswer, UpstreamLimits } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { OcmMode } from "./ocm_endpoint.ts";

/** The policy of a cluster, by the manager's own ids. */
export interface PolicyTarget {
  readonly clusterId: string;
  readonly policyId: string;
}

export interface FoundServiceLog {
  readonly summary: string;
  readonly description: string;
  /** Epoch ms; undefined where it is not said. */
  readonly timestampMs: number | undefined;
}

/** The manager. Every call rejects with UpstreamError when it does not do it. */
export interface OcmClient {
  /** This cluster. `unknownCluster` in the message when the manager does not have it. */
  cluster(signal: AbortSignal): Promise<ManagedCluster>;
  /** All policies of the cluster, as many as are read. */
  policies(clusterId: string, signal: AbortSignal): Promise<readonly UpgradePolicy[]>;
  policyState(target: PolicyTarget, signal: AbortSignal): Promise<StoredState>;
  setPolicyState(target: PolicyTarget, state: StoredState, signal: AbortSignal): Promise<void>;
  serviceLogs(signal: AbortSignal): Promise<readonly FoundServiceLog[]>;
  postServiceLog(entry: JsonObject, signal: AbortSignal): Promise<void>;
}

export interface OcmClientOptions {
  readonly upstream: Upstream;
  readonly mode: OcmMode;
  /** `spec.clusterID` of the ClusterVersion: the manager calls it the external id. */
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
}

/** As the client of the MUO has them: five tries more, 2 to 32 s apart. A manager that hangs holds a call for four minutes. */
export const OCM_LIMITS: UpstreamLimits = {
  timeoutMs: 30_000,
  maxBytes: 4 * 1024 * 1024,
  tries: 6,
  intervalMs: 2_000,
  jitter: 0.3,
};

const CLUSTERS = "/api/clusters_mgmt/v1/clusters";
const SERVICE_LOGS = "/api/service_logs/v1/cluster_logs";
const PAGE_SIZE = 100;
const MAX_PAGES = 5;

const Cluster = z.object({
  id: z.string().min(1),
  version: z.object({ channel_group: z.string().default("") }).default({ channel_group: "" }),
  node_drain_grace_period: z.object({ value: z.number().default(0) }).default({ value: 0 }),
});
const Clusters = z.object({ items: z.array(Cluster).nullish() });
/** `total` must be there: an answer of another kind must not pass for "there is none". */
const Policies = z.object({
  total: z.int().min(0),
  items: z.array(z.object({ id: z.string().min(1), version: z.string().default(""), next_run: z.string().default("") }))
    .nullish(),
});
const State = z.object({ value: z.string(), description: z.string().default("") });
const Logs = z.object({
  items: z.array(z.object({
    summary: z.string().default(""),
    description: z.string().default(""),
    timestamp: z.string().default(""),
  })).default([]),
});

export function openOcmClient({ upstream, mode, clusterId }: OcmClientOptions): OcmClient {
  const get = (path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UpstreamAnswer> =>
    upstream.send({ method: "GET", path, query }, signal);
  return {
    cluster: async (signal) => {
      if (mode === "agent") return toCluster(readJson(await get("/", {}, signal), Cluster));
      const external = checkedId(await clusterId(signal));
      const query = { search: `external_id = '${external}'`, size: "1" };
      const [found] = readJson(await get(CLUSTERS, query, signal), Clusters).items ?? [];
      if (found !== undefined) return toCluster(found);
      throw new UpstreamError(
        `Cannot find the cluster "${external}" in the cluster manager: it has none with this id.`,
        {
          fault: "refused",
          status: 404,
        },
      );
    },
    policies: (id, signal) => readPolicies(get, { path: `${clusterPath(id)}/upgrade_policies`, signal }),
    policyState: async (target, signal) => readJson(await get(statePath(target), {}, signal), State),
    setPolicyState: async (target, { value, description }, signal) => {
      const body = { value, description };
      await upstream.send({ method: "PATCH", path: statePath(target), body, repeatable: true }, signal);
    },
    serviceLogs: async (signal) => {
      const search = `cluster_uuid = '${checkedId(await clusterId(signal))}'`;
      const query = { search, order: "timestamp desc", page: "1", size: String(PAGE_SIZE) };
      return readJson(await get(SERVICE_LOGS, query, signal), Logs).items.map(({ timestamp, ...texts }) => {
        const timestampMs = Date.parse(timestamp);
        return { ...texts, timestampMs: Number.isNaN(timestampMs) ? undefined : timestampMs };
      });
    },
    postServiceLog: async (body, signal) => {
      await upstream.send({ method: "POST", path: SERVICE_LOGS, body }, signal);
    },
  };
}

type Get = (path: string, query: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<UpstreamAnswer>;

async function readPolicies(
  get: Get,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<readonly UpgradePolicy[]> {
  const policies: UpgradePolicy[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await get(path, { page: String(page), size: String(PAGE_SIZE) }, signal);
    const { items, total } = readJson(answer, Policies);
    policies.push(...(items ?? []).map(({ id, version, next_run }) => ({ id, version, nextRun: next_run })));
    if (policies.length >= total || (items ?? []).length === 0) break;
  }
  return policies;
}

function toCluster({ id, version, node_drain_grace_period }: z.infer<typeof Cluster>): ManagedCluster {
  return { id, channelGroup: version.channel_group, drainGraceMinutes: node_drain_grace_period.value };
}

function clusterPath(id: string): string {
  return `${CLUSTERS}/${checkedId(id)}`;
}

function statePath({ clusterId, policyId }: PolicyTarget): string {
  return `${clusterPath(clusterId)}/upgrade_policies/${checkedId(policyId)}/state`;
}

/** An id goes into paths and searches: one with other characters would address something else. */
function checkedId(id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw new UpstreamError("Cannot ask the cluster manager: an id has characters that no id has.", {
    fault: "misconfigured",
  });
}
