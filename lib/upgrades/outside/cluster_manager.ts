// The cluster manager (OCM) as the configuration names it now: one client for as long as the address stays the same.
import type { Clock } from "../../clock.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { proxyFor, type ProxySettings } from "../../oci/http/proxy.ts";
import type { TrustedBundles } from "./http/trusted_bundles.ts";
import { Upstream } from "./http/upstream.ts";
import { OCM_LIMITS, OcmClient } from "./ocm/ocm_client.ts";
import { checkedBaseUrl, ocmModeOf, openOcmEndpoint } from "./ocm/ocm_endpoint.ts";

export interface ClusterManagerOptions {
  readonly api: ReadApi;
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly bundles: TrustedBundles;
  readonly proxies: ProxySettings;
  readonly userAgent: string;
  readonly clock: Clock;
}

export class ClusterManager implements Disposable {
  readonly #options: ClusterManagerOptions;
  #open: { readonly baseUrl: string; readonly upstream: Upstream; readonly client: OcmClient } | undefined;

  constructor(options: ClusterManagerOptions) {
    this.#options = options;
  }

  /** The client for an address. Throws UpstreamError for an address that cannot be used. */
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
