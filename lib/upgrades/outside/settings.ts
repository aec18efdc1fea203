// What the outside services depend on: the settings of upgrades, the cluster's ID, and the client of OCM.
import type { Clock } from "../../clock.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../names.ts";
import { parseClusterVersion } from "../decide/types/cluster.ts";
import { readConfig } from "../cluster/plan_input.ts";
import type { OperatorConfig } from "../decide/types/operator_config.ts";
import { KeptValue } from "./kept_value.ts";
import { proxyFor, type ProxySettings } from "../../oci/http/proxy.ts";
import { Upstream } from "./http/upstream.ts";
import {
  checkedBaseUrl,
  OCM_LIMITS,
  OcmClient,
  type OcmEndpointOptions,
  ocmModeOf,
  openOcmEndpoint,
} from "./ocm/ocm_client.ts";

export interface OutsideSettings {
  /** As it is now, or as a reconcile has read it a moment ago. Rejects when it is absent or invalid. */
  config(signal: AbortSignal): Promise<OperatorConfig>;
  noteConfig(config: OperatorConfig): void;
  /** `spec.clusterID` of the ClusterVersion, kept for a while: it never changes. */
  clusterId(signal: AbortSignal): Promise<string>;
}

const KEEP_MS = 10 * 60_000;
/** How long a configuration counts that a reconcile has noted (ms): about as long as a reconcile takes. */
const NOTED_MS = 5_000;

export function openOutsideSettings(
  { api, namespace, clock }: { readonly api: ReadApi; readonly namespace: string; readonly clock: Clock },
): OutsideSettings {
  const clusterId = new KeptValue(clock, async (signal) => {
    const object = await api.get(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, signal);
    return { value: parseClusterVersion(object).clusterId, keepMs: KEEP_MS };
  });
  let noted: { readonly config: OperatorConfig; readonly untilMs: number } | undefined;
  return {
    noteConfig: (config) => {
      noted = { config, untilMs: clock.monotonicMs() + NOTED_MS };
    },
    config: async (signal) => {
      if (noted !== undefined && clock.monotonicMs() < noted.untilMs) return noted.config;
      const reading = await readConfig({ readApi: api, namespace }, signal);
      if (reading.kind === "parsed") return reading.config;
      const problems = reading.kind === "unparsable" ? reading.problems.join("; ") : reading.why;
      throw new Error(`Cannot use ConfigMap "${namespace}/${Upgrades.settings}": ${problems}`);
    },
    clusterId: (signal) => clusterId.get(signal),
  };
}

interface OcmClientsOptions extends Omit<OcmEndpointOptions, "baseUrl" | "proxyUrl"> {
  readonly proxies: ProxySettings;
  readonly userAgent: string;
}

export class OcmClients implements Disposable {
  readonly #options: OcmClientsOptions;
  #open: { readonly baseUrl: string; readonly upstream: Upstream; readonly client: OcmClient } | undefined;

  constructor(options: OcmClientsOptions) {
    this.#options = options;
  }

  /** The client for an address; that for another address is closed. Throws UpstreamError for an unusable address. */
  clientAt(address: string): OcmClient {
    const baseUrl = checkedBaseUrl(address);
    if (this.#open?.baseUrl === baseUrl) return this.#open.client;
    this[Symbol.dispose]();
    const { userAgent, proxies, ...options } = this.#options;
    const mode = ocmModeOf(baseUrl);
    // A Service of the cluster is never behind a proxy.
    const proxyUrl = mode === "agent" ? undefined : proxyFor(proxies, new URL(baseUrl));
    const source = openOcmEndpoint({ ...options, baseUrl, proxyUrl });
    const server = "the cluster manager";
    const upstream = new Upstream({ server, source, limits: OCM_LIMITS, userAgent, clock: options.clock });
    const client = new OcmClient({ upstream, mode, clusterId: options.clusterId });
    this.#open = { baseUrl, upstream, client };
    return client;
  }

  [Symbol.dispose](): void {
    this.#open?.upstream[Symbol.dispose]();
    this.#open = undefined;
  }
}
