// The cluster manager (OCM), or its agent, over real HTTP: as strict as the real one about logins, paths, searches, pages and
// bodies. A test sets what it holds and puts faults in the way.
import { Resource } from "../../../../lib/k8s/types.ts";
import { type Listener, listenPlain } from "../../../../playground/listen.ts";
import { type EndpointSource, Upstream } from "../../../../lib/upgrades/outside/http/upstream.ts";
import { OCM_LIMITS, OcmClient, openOcmEndpoint } from "../../../../lib/upgrades/outside/ocm/ocm_client.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";
import { hastyClock } from "./support.ts";

/** Identities of the double's one cluster, and the login that it takes. */
export const EXTERNAL_ID = "f1c8a2de-0000-4000-8000-1234567890ab";
export const CLUSTER_ID = "1jm3c45p0e6h0k9example";
export const PULL_SECRET_AUTH = "czNjcmV0LXB1bGwtc2VjcmV0";
export const AUTHORIZATION = `AccessToken ${EXTERNAL_ID}:${PULL_SECRET_AUTH}`;

export interface DoublePolicy {
  readonly id: string;
  readonly version: string;
  readonly next_run: string;
  state: { value: string; description: string };
}

export interface OcmDouble extends AsyncDisposable {
  readonly origin: string;
  /** Of a cluster that logs in as it should, unless another is given. */
  readonly client: OcmClient;
  readonly policies: DoublePolicy[];
  readonly logs: Record<string, unknown>[];
  readonly seen: string[];
  /** Between attempts of the client (ms). */
  readonly pauses: readonly number[];
  intercept: (request: Request) => Response | undefined;
}

const POLICIES = /^\/api\/clusters_mgmt\/v1\/clusters\/([\w-]+)\/upgrade_policies(?:\/([\w-]+)\/state)?$/;
const MAX_PAGE_SIZE = 100;

export function startOcm(mode: "api" | "agent", cluster?: MemoryCluster): OcmDouble {
  const listener: Listener = listenPlain(async (request) => {
    const { pathname } = new URL(request.url);
    double.seen.push(`${request.method} ${pathname}`);
    const intercepted = double.intercept(request);
    if (intercepted !== undefined) return intercepted;
    if (request.headers.get("authorization") !== AUTHORIZATION) return refuse(401, "the login is not known");
    return await answer(request, double, mode);
  });
  const opened = openOcm(listener.origin, mode, cluster);
  const double: OcmDouble = {
    origin: listener.origin,
    client: opened.client,
    policies: [],
    logs: [],
    seen: [],
    pauses: opened.pauses,
    intercept: () => undefined,
    [Symbol.asyncDispose]: () => {
      opened[Symbol.dispose]();
      return listener[Symbol.asyncDispose]();
    },
  };
  return double;
}

async function answer(request: Request, double: OcmDouble, mode: "api" | "agent"): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const cluster = {
    kind: "Cluster",
    id: CLUSTER_ID,
    external_id: EXTERNAL_ID,
    version: { id: "openshift-v4.16.1", channel_group: "stable" },
    node_drain_grace_period: { value: 45, unit: "minutes" },
  };
  if (mode === "agent" && request.method === "GET" && pathname === "/") return Response.json(cluster);
  if (mode === "api" && request.method === "GET" && pathname === "/api/clusters_mgmt/v1/clusters") {
    const found = searchParams.get("search") === `external_id = '${EXTERNAL_ID}'` ? [cluster] : [];
    return listOf(found, searchParams);
  }
  if (pathname === "/api/service_logs/v1/cluster_logs") return await serviceLogs(request, double);
  const [, clusterId, policyId] = POLICIES.exec(pathname) ?? [];
  if (clusterId !== CLUSTER_ID) return refuse(404, "there is no such thing");
  if (policyId === undefined) {
    const list = double.policies.map(({ state: _state, ...policy }) => ({ kind: "UpgradePolicy", ...policy }));
    return request.method === "GET" ? listOf(list, searchParams) : refuse(405, "read only");
  }
  return await policyState(request, double.policies.find(({ id }) => id === policyId));
}

async function policyState(request: Request, policy: DoublePolicy | undefined): Promise<Response> {
  if (policy === undefined) return refuse(404, "there is no such policy");
  if (request.method === "GET") return Response.json({ kind: "UpgradePolicyState", ...policy.state });
  if (request.method !== "PATCH") return refuse(405, "not this way");
  const body: unknown = await bodyOf(request);
  const [value, description] = [Reflect.get(Object(body), "value"), Reflect.get(Object(body), "description")];
  const words = ["pending", "scheduled", "started", "delayed", "failed", "completed", "cancelled"];
  if (typeof value !== "string" || !words.includes(value) || typeof description !== "string") {
    return refuse(400, "no state");
  }
  policy.state = { value, description };
  return Response.json({ kind: "UpgradePolicyState", ...policy.state });
}

async function serviceLogs(request: Request, { logs }: OcmDouble): Promise<Response> {
  const { searchParams } = new URL(request.url);
  if (request.method === "GET") {
    const isOurs = searchParams.get("search") === `cluster_uuid = '${EXTERNAL_ID}'`;
    return listOf(isOurs ? logs.toReversed() : [], searchParams);
  }
  if (request.method !== "POST") return refuse(405, "not this way");
  const entry = Object(await bodyOf(request));
  const wanted = ["severity", "service_name", "summary", "description"].every((key) => typeof entry[key] === "string");
  if (!wanted || entry["cluster_uuid"] !== EXTERNAL_ID || typeof entry["internal_only"] !== "boolean") {
    return refuse(400, "no entry");
  }
  logs.push({ ...entry, timestamp: new Date().toISOString() });
  return Response.json(entry, { status: 201 });
}

async function bodyOf(request: Request): Promise<unknown> {
  const isJson = request.headers.get("content-type") === "application/json";
  return isJson ? await request.json().catch(() => undefined) : undefined;
}

function listOf(items: readonly unknown[], query: URLSearchParams): Response {
  const page = Number(query.get("page") ?? "1");
  const size = Number(query.get("size") ?? "100");
  if (!(page >= 1 && size >= 1 && size <= MAX_PAGE_SIZE)) return refuse(400, "page or size");
  const part = items.slice((page - 1) * size, page * size);
  return Response.json({ kind: "List", page, size: part.length, total: items.length, items: part });
}

function refuse(status: number, reason: string): Response {
  const headers = { "x-operation-id": "1nq7-op" };
  return Response.json({ kind: "Error", code: "CLUSTERS-MGMT", reason }, { status, headers });
}

export const AUTHS = { auths: { "cloud.openshift.com": { auth: PULL_SECRET_AUTH } } };

export function secretOf(content: unknown, key = ".dockerconfigjson"): Readonly<Record<string, unknown>> {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { data: { [key]: btoa(text) } };
}

export function withPullSecret(secret: Readonly<Record<string, unknown>> = secretOf(AUTHS)): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.put(Resource.secrets, { ...secret, metadata: { namespace: "openshift-config", name: "pull-secret" } });
  return cluster;
}

export const clusterId = (): Promise<string> => Promise.resolve(EXTERNAL_ID);

export function endpointOf(options: Partial<Parameters<typeof openOcmEndpoint>[0]> = {}): EndpointSource {
  const { api } = withPullSecret();
  const bundles = () => Promise.resolve([]);
  return openOcmEndpoint({ baseUrl: "https://api.example", api, clusterId, bundles, ...options });
}

export function openOcm(
  origin: string,
  mode: "api" | "agent",
  { api }: MemoryCluster = withPullSecret(),
): Disposable & { readonly client: OcmClient; readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  const source = endpointOf({ baseUrl: origin, api });
  const parts = { server: "the cluster manager", limits: OCM_LIMITS, userAgent: "test", clock: hastyClock(pauses) };
  const upstream = new Upstream({ ...parts, source });
  const client = new OcmClient({ upstream, mode, clusterId });
  return { client, pauses, [Symbol.dispose]: () => upstream[Symbol.dispose]() };
}

export function addPolicy(
  double: OcmDouble,
  id: string,
  { state = "scheduled", at = "2026-03-20T00:00:00Z", version = "4.16.3" } = {},
): void {
  double.policies.push({ id, version, next_run: at, state: { value: state, description: "" } });
}
