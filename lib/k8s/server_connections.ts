// The connections to the API server: trusted certificates, verified name and proxy.
import { PinnedHosts } from "../tls/pinned_hosts.ts";
import { fetchUnverified } from "../tls/unverified_fetch.ts";
import type { ClusterAccess, TlsClientConfig } from "./cluster_access.ts";
import { openServerTunnel, type ServerTunnel } from "./server_tunnel.ts";

interface ServerRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The body is sent when this resolves; the head is sent at once. */
  readonly holdBack?: Promise<void> | undefined;
  readonly signal: AbortSignal;
}

/** Keeps connections until the credentials' TLS part changes. Pinned or unverified servers ignore `holdBack`. */
export class ServerConnections implements AsyncDisposable {
  readonly #access: ClusterAccess;
  readonly #pinnedHosts = new PinnedHosts();
  #client: { readonly tls: TlsClientConfig; readonly http: Deno.HttpClient } | undefined;
  #tunnel: ServerTunnel | undefined;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  /** Like `fetch` with `redirect: "manual"`; `path` with its query. */
  async fetch(
    path: string,
    request: ServerRequest,
    { tls, nowMs }: { tls: TlsClientConfig; nowMs: number },
  ): Promise<Response> {
    const url = new URL(this.#access.baseUrl + path);
    const { skipsTlsVerify, serverName, proxyUrl } = this.#access;
    const named = serverName === undefined ? url : withHostname(url, serverName);
    const own = tls.client === undefined ? undefined : { certificate: tls.client.cert, key: tls.client.key };
    // Opens a connection for each request, since only test clusters have pinned or unverified servers.
    const unverified = (judge?: (certificate: Uint8Array) => void): Promise<Response> =>
      fetchUnverified(url, {
        ...request,
        headers: new Headers(request.headers),
        clientCertificate: own,
        proxyUrl,
        serverName,
        judge,
      });
    if (url.protocol === "https:" && skipsTlsVerify === true) return await unverified();
    const verified = (): Promise<Response> => this.#fetchVerified(named, { ...request, host: url.host, tls });
    return await this.#pinnedHosts.fetch(named, { trusted: tls.caCerts, nowMs, verified, pinned: unverified });
  }

  async #fetchVerified(
    url: URL,
    options: ServerRequest & { readonly host: string; readonly tls: TlsClientConfig },
  ): Promise<Response> {
    const { host, tls, method, headers, body, holdBack, signal } = options;
    const client = this.#httpClient(tls);
    try {
      return await fetch(url, {
        method,
        headers: this.#access.serverName === undefined ? headers : { ...headers, host },
        body: body === undefined ? null : holdBack === undefined ? body : streamAfter(holdBack, body),
        signal,
        redirect: "manual",
        client,
      });
    } catch (error) {
      // The client's idle connections lead to the same server and may be dead, too.
      if (this.#client?.http === client) this.#closeClient();
      throw error;
    }
  }

  /** A rotated CA or client certificate gets a new client. Running requests keep their connections. */
  #httpClient(tls: TlsClientConfig): Deno.HttpClient {
    if (this.#client?.tls === tls) return this.#client.http;
    const proxyUrl = this.#access.serverName === undefined ? this.#access.proxyUrl : this.#openTunnel().origin;
    const http = Deno.createHttpClient({
      http2: false,
      allowHost: true,
      caCerts: [...tls.caCerts],
      ...(tls.client === undefined ? {} : tls.client),
      ...(proxyUrl === undefined ? {} : { proxy: { url: proxyUrl } }),
    });
    this.#closeClient();
    this.#client = { tls, http };
    return http;
  }

  #closeClient(): void {
    this.#client?.http.close();
    this.#client = undefined;
  }

  #openTunnel(): ServerTunnel {
    const { hostname, port } = new URL(this.#access.baseUrl);
    this.#tunnel ??= openServerTunnel({ hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || "443") });
    return this.#tunnel;
  }

  /** Closes idle connections, and streams through the tunnel. Other open streams end by themselves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closeClient();
    await this.#tunnel?.[Symbol.asyncDispose]();
    this.#tunnel = undefined;
  }
}

function withHostname(url: URL, name: string): URL {
  const named = new URL(url);
  named.hostname = name;
  return named;
}

function streamAfter(ready: Promise<void>, text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull: async (controller) => {
      await ready;
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}
