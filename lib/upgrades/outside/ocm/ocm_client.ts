// Calls of the cluster manager (OCM). Its API is searched for the cluster's ID; OCM's agent answers for its cluster.
import * as z from "zod";
import ipaddr from "ipaddr.js";
import { decodeBase64, type JsonObject, memberOf, objectAt, parseObject, textAt } from "../../../json.ts";
import { ManagedCluster, UpgradePolicy } from "../../decide/policy/plan_change.ts";
import type { OperatorConfig } from "../../decide/types/operator_config.ts";
import { StoredState } from "../../decide/notifications/ocm_states.ts";
import { type EndpointSource, Upstream, type UpstreamLimits } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";
import type { Clock } from "../../../clock.ts";
import { type ReadApi, readOptional } from "../../../k8s/api.ts";
import { Resource } from "../../../k8s/types.ts";
import type { TrustedBundles } from "../http/trusted_bundles.ts";
import { proxyFor, type ProxySettings } from "../../../oci/http/proxy.ts";

interface PolicyTarget {
  readonly clusterId: string;
  readonly policyId: string;
}

export interface OcmClientOptions {
  readonly upstream: Upstream;
  readonly mode: OcmMode;
  /** `spec.clusterID` of the ClusterVersion: the manager calls it the external id. */
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
}

/** The limits of the MUO's client: five retries, 2 to 32 s apart. A server that hangs holds a call for four minutes. */
export const OCM_LIMITS: UpstreamLimits = {
  timeoutMs: 30_000,
  maxBytes: 4 * 1024 * 1024,
  maxAttempts: 6,
};

const CLUSTERS = "/api/clusters_mgmt/v1/clusters";
const SERVICE_LOGS = "/api/service_logs/v1/cluster_logs";
const PAGE_SIZE = "100";

const Clusters = z.object({ items: z.array(ManagedCluster).nullish() });
/** `total` must be there: an answer of another kind must not pass for "there is none". */
const Policies = z.object({ total: z.int().min(0), items: z.array(UpgradePolicy).nullish() });
const Log = z.object({
  summary: z.string().default(""),
  description: z.string().default(""),
  timestamp: z.string().default(""),
});
export type FoundServiceLog = Readonly<z.output<typeof Log>>;
const Logs = z.object({ items: z.array(Log).default([]) });

export class OcmClient {
  readonly #options: OcmClientOptions;

  constructor(options: OcmClientOptions) {
    this.#options = options;
  }

  async cluster(signal: AbortSignal): Promise<ManagedCluster> {
    const { mode, clusterId } = this.#options;
    if (mode === "agent") return await this.#get("/", ManagedCluster, { signal });
    const external = await clusterId(signal);
    const query = { search: `external_id = '${external}'`, size: "1" };
    const [found] = (await this.#get(CLUSTERS, Clusters, { query, signal })).items ?? [];
    if (found !== undefined) return found;
    const message = `Cannot find the cluster "${external}" in the cluster manager: it has none with this id.`;
    throw new UpstreamError(message, { fault: "refused", status: 404 });
  }

  /** The policies of the first page. The MUO looks at one. */
  async policies(clusterId: string, signal: AbortSignal): Promise<readonly UpgradePolicy[]> {
    const path = `${clusterPath(clusterId)}/upgrade_policies`;
    const query = { page: "1", size: PAGE_SIZE };
    return (await this.#get(path, Policies, { query, signal })).items ?? [];
  }

  policyState(target: PolicyTarget, signal: AbortSignal): Promise<StoredState> {
    return this.#get(statePath(target), StoredState, { signal });
  }

  async setPolicyState(target: PolicyTarget, { value, description }: StoredState, signal: AbortSignal): Promise<void> {
    const body = { value, description };
    await this.#options.upstream.send({ method: "PATCH", path: statePath(target), body }, signal);
  }

  async serviceLogs(signal: AbortSignal): Promise<readonly FoundServiceLog[]> {
    const search = `cluster_uuid = '${await this.#options.clusterId(signal)}'`;
    const query = { search, order: "timestamp desc", page: "1", size: PAGE_SIZE };
    return (await this.#get(SERVICE_LOGS, Logs, { query, signal })).items;
  }

  async postServiceLog(body: JsonObject, signal: AbortSignal): Promise<void> {
    await this.#options.upstream.send({ method: "POST", path: SERVICE_LOGS, body }, signal);
  }

  #get<T>(
    path: string,
    schema: z.ZodType<T>,
    { query = {}, signal }: { readonly query?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<T> {
    return this.#options.upstream.json({ method: "GET", path, query }, schema, signal);
  }
}

interface OcmClientsOptions extends Omit<OcmEndpointOptions, "baseUrl" | "proxyUrl"> {
  readonly proxies: ProxySettings;
  readonly userAgent: string;
  readonly clock: Clock;
}

export class OcmClients implements Disposable {
  readonly #options: OcmClientsOptions;
  #open: { readonly baseUrl: string; readonly upstream: Upstream; readonly client: OcmClient } | undefined;

  constructor(options: OcmClientsOptions) {
    this.#options = options;
  }

  /** The client that the settings ask for, if any. Closes a client for another address. Throws UpstreamError. */
  clientOf({ ocmBaseUrl }: OperatorConfig["configManager"]): OcmClient | undefined {
    if (ocmBaseUrl === undefined) return undefined;
    const baseUrl = checkedBaseUrl(ocmBaseUrl);
    if (this.#open?.baseUrl === baseUrl) return this.#open.client;
    this[Symbol.dispose]();
    const { userAgent, proxies, clock, ...options } = this.#options;
    const mode = ocmModeOf(baseUrl);
    // A Service of the cluster is never behind a proxy.
    const proxyUrl = mode === "agent" ? undefined : proxyFor(proxies, new URL(baseUrl));
    const source = openOcmEndpoint({ ...options, baseUrl, proxyUrl });
    const server = "the cluster manager";
    const upstream = new Upstream({ server, source, limits: OCM_LIMITS, userAgent, clock });
    const client = new OcmClient({ upstream, mode, clusterId: options.clusterId });
    this.#open = { baseUrl, upstream, client };
    return client;
  }

  [Symbol.dispose](): void {
    this.#open?.upstream[Symbol.dispose]();
    this.#open = undefined;
  }
}

function clusterPath(id: string): string {
  return `${CLUSTERS}/${id}`;
}

function statePath({ clusterId, policyId }: PolicyTarget): string {
  return `${clusterPath(clusterId)}/upgrade_policies/${policyId}/state`;
}

/** `agent`: the agent of the cluster, which represents this cluster alone. */
type OcmMode = "api" | "agent";

interface OcmEndpointOptions {
  readonly baseUrl: string;
  readonly api: ReadApi;
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly proxyUrl?: string | undefined;
  readonly bundles: TrustedBundles;
}

const AGENT = "ocm-agent.openshift-ocm-agent-operator.svc.cluster.local:8081";
const PULL_SECRET = { namespace: "openshift-config", name: "pull-secret" } as const;
const SECRET_KEY = ".dockerconfigjson";
const REGISTRY = "cloud.openshift.com";

export function ocmModeOf(baseUrl: string): OcmMode {
  return baseUrl.includes(AGENT) ? "agent" : "api";
}

/** The URL without a trailing slash. Throws UpstreamError if it is invalid, or would send the token in the clear. */
export function checkedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "") {
    throw misconfigured("Cannot use configManager.ocmBaseUrl: it is no web address.");
  }
  const isNear = /\.svc(\.cluster\.local)?$|^localhost$/.test(url.hostname) || isLoopback(url.hostname);
  if (url.protocol === "http:" && !isNear) {
    throw misconfigured("Cannot use configManager.ocmBaseUrl: plain HTTP is for services of the cluster. Use https.");
  }
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, "");
}

/** Parses the address, since the name of a host may begin like one. */
function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

export function openOcmEndpoint(options: OcmEndpointOptions): EndpointSource {
  const { baseUrl, bundles, proxyUrl } = options;
  return {
    endpoint: async (signal) => ({
      baseUrl,
      caCerts: await bundles(),
      proxyUrl,
      authorization: `AccessToken ${await readToken(options, signal)}`,
    }),
  };
}

async function readToken({ api, clusterId }: OcmEndpointOptions, signal: AbortSignal): Promise<string> {
  const id = await clusterId(signal);
  const secret = await readOptional(api, { type: Resource.secrets, ...PULL_SECRET, signal });
  const auth = pullSecretAuth(secret);
  if (auth.kind === "missing") {
    const name = `${PULL_SECRET.namespace}/${PULL_SECRET.name}`;
    throw misconfigured(`Cannot log in to the cluster manager: ${auth.state} in Secret "${name}".`);
  }
  return `${id}:${auth.value}`;
}

/** The entry of a pull secret for the cluster manager, or what is missing. Never a part of its content. */
export function pullSecretAuth(
  secret: unknown,
): { readonly kind: "found"; readonly value: string } | { readonly kind: "missing"; readonly state: string } {
  const encoded = textAt(objectAt(secret, "data"), SECRET_KEY);
  if (encoded === "") return { kind: "missing", state: `there is no ${SECRET_KEY}` };
  const document = decodedObject(encoded);
  if (document === undefined) return { kind: "missing", state: `${SECRET_KEY} is no JSON object` };
  const value = textAt(memberOf(objectAt(document, "auths"), REGISTRY), "auth");
  if (value === "") return { kind: "missing", state: `there is no auths["${REGISTRY}"].auth` };
  return { kind: "found", value };
}

function decodedObject(encoded: string): ReturnType<typeof parseObject> {
  try {
    return parseObject(decodeBase64(encoded));
  } catch {
    return undefined;
  }
}

function misconfigured(message: string): UpstreamError {
  return new UpstreamError(message, { fault: "misconfigured" });
}
