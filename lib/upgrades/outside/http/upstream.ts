// One server that upgrades depend on beside the API server: where it is, how to log in, and bounds for each request. A
// redirect is not followed but is a failure, so that a token reaches no other host.
//
//   send ─▶ endpoint (address, CA, token, as its source has them) ─▶ fetch ─▶ body within bounds ─▶ answer, or UpstreamError
//             ▲ 401: discarded and read once more
import type * as z from "zod";
import { type Clock, jitter, openDeadline } from "../../../clock.ts";
import { PinnedHosts } from "../../../tls/pinned_hosts.ts";
import { fetchUnverified } from "../../../tls/unverified_fetch.ts";
import { type JsonObject, tryParseJson } from "../../../json.ts";
import { collectBody } from "../../../oci/http/body.ts";
import { isSendable } from "../../../oci/http/exchange.ts";
import { type RequestName, statusError, UpstreamError, upstreamError, wireError } from "./upstream_error.ts";
import { request as httpRequest } from "node:http";
import { nodeResponse } from "../../../tls/node_response.ts";

export interface UpstreamEndpoint {
  /** `https://host:port`, or with a path that every request begins with; no slash at the end. */
  readonly baseUrl: string;
  readonly caCerts: readonly string[];
  /** The `Authorization` header. Never logged. */
  readonly authorization?: string | undefined;
  /** HTTP proxy for https; absent: what the environment says. Plain HTTP never goes through one. */
  readonly proxyUrl?: string | undefined;
}

export interface EndpointSource {
  /** Throws where a part of the endpoint is missing, with a message that is safe to show. */
  endpoint(signal: AbortSignal): Promise<UpstreamEndpoint>;
  /** Drops the token that the source keeps. To be called when the server has refused that token. */
  readonly discard?: () => void;
}

export interface UpstreamLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Attempts for all but a POST; absent: one, since most callers come back within a minute. */
  readonly maxAttempts?: number | undefined;
}

export interface UpstreamOptions {
  readonly server: string;
  readonly source: EndpointSource;
  readonly limits: UpstreamLimits;
  readonly userAgent: string;
  readonly clock: Clock;
  /** The path of the address may be secret: messages name the host alone. */
  readonly hidesPath?: true | undefined;
  /** Messages quote the reason of a refusal. Only for servers that belong to the cluster and are sent no secret. */
  readonly showsReason?: true | undefined;
}

interface UpstreamRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonObject | undefined;
}

interface UpstreamAnswer {
  readonly text: string;
  readonly name: RequestName;
}

/** Wait before the second attempt (ms), doubled before each further one; and the share by which it varies. */
const FIRST_PAUSE_MS = 2_000;
const PAUSE_JITTER = 0.3;
const MAX_REASON_BYTES = 4_096;

export class Upstream implements Disposable {
  readonly #options: UpstreamOptions;
  readonly #pinned = new PinnedHosts();
  #client: { readonly key: string; readonly http: Deno.HttpClient } | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** Sends the request and parses the JSON answer. Another shape is an UpstreamError (`malformed`) with the place. */
  async json<T>(request: UpstreamRequest, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const { text, name } = await this.send(request, signal);
    const parsed = schema.safeParse(tryParseJson(text));
    if (parsed.success) return parsed.data;
    const path = parsed.error.issues[0]?.path.map(String).join(".").slice(0, 80) ?? "";
    const other = `its answer is not what it must be${path === "" ? "" : ` (at ${path})`}`;
    const state = tryParseJson(text) === undefined ? "its answer is no JSON" : other;
    throw upstreamError(name, { fault: "malformed", state });
  }

  async send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { limits, clock } = this.#options;
    const maxAttempts = request.method === "POST" ? 1 : limits.maxAttempts ?? 1;
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#sendLoggedIn(request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (attempt >= maxAttempts || !(error instanceof UpstreamError) || !error.isTransient) throw error;
        await clock.sleep(jitter(FIRST_PAUSE_MS * 2 ** (attempt - 1), 1 - PAUSE_JITTER, 1 + PAUSE_JITTER), signal);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#client?.http.close();
    this.#client = undefined;
  }

  /** Sends the request once more after a 401, since a token that the source keeps may have been replaced. */
  async #sendLoggedIn(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { source } = this.#options;
    try {
      return await this.#sendOnce(request, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.status !== 401 || source.discard === undefined) throw error;
      source.discard();
      return await this.#sendOnce(request, signal);
    }
  }

  async #sendOnce(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { server, source, limits, clock, hidesPath } = this.#options;
    const endpoint = await source.endpoint(signal);
    const url = urlOf(endpoint, request);
    const name = { server, method: request.method, url: hidesPath === true ? new URL("/...", url) : url };
    const headers = this.#headers(endpoint, request, name);
    using deadline = openDeadline(limits.timeoutMs, { signal, clock });
    try {
      const response = await this.#fetch(url, { endpoint, request, headers, signal: deadline.signal });
      return await this.#answer(response, name);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamError) throw error;
      throw wireError(name, deadline.signal.aborted ? deadline.signal.reason : error);
    }
  }

  async #answer(response: Response, name: RequestName): Promise<UpstreamAnswer> {
    const { status, body } = response;
    const { maxBytes } = this.#options.limits;
    if (!response.ok) throw statusError(name, response, await this.#reasonIn(response));
    if (body === null) return { text: "", name };
    const collected = await collectBody(body, { maxBytes });
    if (collected === undefined) {
      throw upstreamError(name, { fault: "tooLarge", status, state: `its answer has more than ${maxBytes} bytes` });
    }
    return { text: new TextDecoder().decode(collected), name };
  }

  async #reasonIn({ status, body }: Response): Promise<string> {
    const isShown = this.#options.showsReason === true && status < 500;
    if (body === null || !isShown) return await body?.cancel() ?? "";
    return new TextDecoder().decode(await collectBody(body, { maxBytes: MAX_REASON_BYTES }));
  }

  #headers(endpoint: UpstreamEndpoint, request: UpstreamRequest, name: RequestName): Headers {
    const { authorization } = endpoint;
    if (authorization !== undefined && !isSendable(authorization)) {
      const state = "its token has characters that no header can hold";
      throw upstreamError(name, { fault: "misconfigured", state });
    }
    const headers = new Headers({ accept: "application/json", "user-agent": this.#options.userAgent });
    if (request.body !== undefined) headers.set("content-type", "application/json");
    for (const [header, value] of Object.entries(request.headers ?? {})) headers.set(header, value);
    if (authorization !== undefined) headers.set("authorization", authorization);
    return headers;
  }

  async #fetch(
    url: URL,
    { endpoint, request, headers, signal }: {
      readonly endpoint: UpstreamEndpoint;
      readonly request: UpstreamRequest;
      readonly headers: Headers;
      readonly signal: AbortSignal;
    },
  ): Promise<Response> {
    const { method } = request;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    if (url.protocol === "http:") return await fetchDirect(url, { method, headers, body, signal });
    const { caCerts, proxyUrl } = endpoint;
    return await this.#pinned.fetch(url, {
      trusted: caCerts,
      nowMs: this.#options.clock.nowMs(),
      verified: () =>
        fetch(url, { method, headers, body: body ?? null, signal, redirect: "manual", client: this.#http(endpoint) }),
      pinned: (judge) => fetchUnverified(url, { method, headers, body, signal, proxyUrl, judge }),
    });
  }

  /** One client for as long as certificates and proxy stay the same. */
  #http({ caCerts, proxyUrl }: UpstreamEndpoint): Deno.HttpClient {
    const key = JSON.stringify([caCerts, proxyUrl]);
    if (this.#client?.key === key) return this.#client.http;
    const proxy = proxyUrl === undefined ? {} : { proxy: { url: proxyUrl } };
    const http = Deno.createHttpClient({ caCerts: [...caCerts], http2: false, poolMaxIdlePerHost: 2, ...proxy });
    this.#client?.http.close();
    this.#client = { key, http };
    return http;
  }
}

function urlOf({ baseUrl }: UpstreamEndpoint, { path, query = {} }: UpstreamRequest): URL {
  const url = new URL(baseUrl + path);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url;
}

export function fixedEndpoint(endpoint: UpstreamEndpoint): EndpointSource {
  return { endpoint: () => Promise.resolve(endpoint) };
}

interface DirectRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Like fetch with `redirect: "manual"`, over its own connection and never by a proxy, which reaches no Service. */
async function fetchDirect(url: URL, { method, headers, body, signal }: DirectRequest): Promise<Response> {
  // Nothing is gained by compression inside of a cluster.
  headers.set("accept-encoding", "identity");
  const options = { method, headers: Object.fromEntries(headers), signal, agent: false };
  try {
    return await nodeResponse(method, (onAnswer) => httpRequest(url, options, onAnswer).end(body));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
