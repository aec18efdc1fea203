// Sends requests safely: guarded address, verified TLS, time and size limits, redirects without credentials.
import { STATUS_CODES } from "node:http";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import { guardAddress, isPublicAddress, type Resolve } from "./address_guard.ts";
import { RegistryError } from "../errors.ts";
import { pauseOf } from "../limits/outcome.ts";
import type { WorkLimits } from "../limits/work_limits.ts";
import { absenceOf } from "../limits/absence.ts";
import { collectBody, FREE_BYTES, type TakeMemory } from "./body.ts";
import {
  classify,
  concealed,
  exchangeError,
  headersOf,
  type Hop,
  isWrite,
  loginOf,
  pathOf,
  redirected,
  type RegistryRequest,
  type RegistryResponse,
} from "./exchange.ts";
import type { RequestContext, TraceEntry } from "../request_log.ts";
import { proxyFor, type ProxySettings } from "./proxy.ts";
import { PinnedHosts } from "../../tls/pinned_hosts.ts";
import { fetchUnverified } from "../../tls/unverified_fetch.ts";

/** Documents are small, so a slow request is better repeated: no pod should wait 10 s for a healthy registry. */
const DOCUMENT_TIMEOUTS = { headersMs: 5_000, totalMs: 7_000 };
const MAX_REDIRECTS = 5;
/** Bounded: image names come from tenants and may name any number of hosts. */
const MAX_ANSWERED = 1_000;
/** Open clients, one per set of certificates: few hosts have certificates of their own. */
const MAX_CLIENTS = 64;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export interface TransportDeps {
  readonly limits: WorkLimits;
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly userAgent: string;
  /** The environment's proxies, for resolving names and for connecting without `fetch`, which applies its own. */
  readonly proxies: ProxySettings;
  /** Who reads the errors: for `tenants` (default) they reveal nothing of networks beyond their reach. */
  readonly audience?: "tenants" | "caller" | undefined;
  /** Time limits of requests without their own; default: those of documents. */
  readonly timeouts?: RegistryRequest["timeouts"];
}

export class Transport implements Disposable {
  readonly #deps: TransportDeps;
  readonly #clients = new LRUCache<string, Deno.HttpClient>({ max: MAX_CLIENTS, dispose: (client) => client.close() });
  readonly #pinnedHosts = new PinnedHosts();
  readonly #answered = new LRUCache<string, true>({ max: MAX_ANSWERED });

  constructor(deps: TransportDeps) {
    this.#deps = deps;
  }

  /** Any HTTP status is an answer. Throws RegistryError without a complete one. */
  async send(request: RegistryRequest, context: RequestContext): Promise<RegistryResponse> {
    const { signal } = context;
    const deadline = new AbortController();
    const { headersMs, totalMs } = request.timeouts ?? this.#deps.timeouts ?? DOCUMENT_TIMEOUTS;
    const headersTimer = setTimeout(() => deadline.abort(), headersMs);
    const totalTimer = setTimeout(() => deadline.abort(), totalMs);
    const within = { ...context, signal: AbortSignal.any([signal, deadline.signal]) };
    try {
      return await this.#follow(request, within, () => clearTimeout(headersTimer));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // A concealed error stays Unreachable, even after a timeout.
      const isUnreachable = error instanceof RegistryError && error.failure.reason === "Unreachable";
      if (!deadline.signal.aborted || isUnreachable) throw error;
      throw exchangeError(request, "Timeout", "did not answer in time", error);
    } finally {
      clearTimeout(headersTimer);
      clearTimeout(totalTimer);
    }
  }

  async #follow(first: Hop, context: RequestContext, onHeaders: () => void): Promise<RegistryResponse> {
    let hop = first;
    for (let redirects = 0;; redirects++) {
      const addresses = hop.connection.isDeclared ? undefined : await this.#guard(hop, context);
      const response = await this.#sendHop({ ...hop, addresses }, context, onHeaders);
      const location = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || location === null) return response;
      // A form holds a refresh token, which must not reach another address.
      if (hop.form !== undefined) throw exchangeError(hop, "ServerError", "redirected a login");
      if (isWrite(hop)) throw exchangeError(hop, "ServerError", "redirected a write, which is not followed");
      if (redirects === MAX_REDIRECTS) {
        throw exchangeError(hop, "ServerError", `redirected more than ${MAX_REDIRECTS} times`);
      }
      hop = redirected(hop, location);
    }
  }

  /** Resolves no name behind a proxy. The proxy resolves it, and here the resolution may fail or hang. */
  #guard({ url }: Hop, { callers, signal }: RequestContext): Promise<readonly string[]> {
    const isProxied = url.protocol === "https:" && proxyFor(this.#deps.proxies, url) !== undefined;
    const resolve: Resolve = async (hostname) => {
      if (isProxied) return [];
      // The permit is held until the resolution itself ends, which may be after its callers have left.
      using _permit = await this.#deps.limits.nameResolutions.acquire(callers, signal);
      return await this.#deps.resolve(hostname);
    };
    return guardAddress(url.host, { resolve, signal });
  }

  async #sendHop(
    hop: Hop,
    { callers, requestLog, signal }: RequestContext,
    onHeaders: () => void,
  ): Promise<RegistryResponse> {
    const { url, method } = hop;
    const startedMs = this.#deps.clock.monotonicMs();
    const login = loginOf(hop);
    const shown = {
      method,
      url: `${url.origin}${pathOf(hop)}`,
      ...(login === undefined ? {} : { authorization: login }),
    };
    const trace = (end: Pick<TraceEntry, "status" | "note">): void =>
      requestLog.note({ ...shown, ...end, ms: this.#deps.clock.monotonicMs() - startedMs });
    requestLog.count(hop.kind);
    try {
      const response = await this.#open(hop, signal);
      onHeaders();
      const { status, headers } = response;
      const streamed = hop.isStreamed === true && status === 200 ? response.body : null;
      const stream = streamed === null ? undefined : describeFaults(streamed, hop);
      using own = new DisposableStack();
      const { memory = own } = hop;
      const take: TakeMemory = (bytes) =>
        void memory.use(this.#deps.limits.takeMemory(bytes, { callers, registry: url.host }));
      const body = stream === undefined ? await readBody(response, { hop, take }) : new Uint8Array();
      trace({ status, note: STATUS_CODES[status] ?? "" });
      if (status < 500) this.#answered.set(url.host, true);
      const pauseMs = pauseOf(response, this.#deps.clock.nowMs());
      const absence = absenceOf({ status, method, body });
      return { status, headers, body, redirect: hop.redirect, stream, pauseMs, absence };
    } catch (error) {
      const describe = this.#mayDescribe(hop) ? classify : concealed;
      const failure = error instanceof RegistryError ? error : describe(hop, error);
      trace({ status: "failed", note: failure.failure.reason });
      throw failure;
    }
  }

  /** `fetch` may have used another address than the guard, so only a host that has answered counts as public. */
  #mayDescribe({ url, addresses }: Hop): boolean {
    if (addresses === undefined || this.#deps.audience === "caller") return true;
    return addresses.every(isPublicAddress) && this.#answered.has(url.host);
  }

  #open(hop: Hop, signal: AbortSignal): Promise<Response> {
    const { url, method, connection, addresses } = hop;
    const headers = headersOf(hop, this.#deps.userAgent);
    const body = contentOf(hop);
    const init = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    const verified = (): Promise<Response> => fetch(url, { ...init, redirect: "manual", client: this.#clientFor(hop) });
    if (url.protocol !== "https:") return verified();
    const [clientCertificate] = connection.clientCertificates ?? [];
    const proxyUrl = proxyFor(this.#deps.proxies, url);
    const unverified = (judge?: (certificate: Uint8Array) => void): Promise<Response> =>
      fetchUnverified(url, { ...init, clientCertificate, addresses, proxyUrl, judge });
    if (!connection.verifiesTls) return unverified();
    const trusted = connection.caCertificates;
    return this.#pinnedHosts.fetch(url, { trusted, nowMs: this.#deps.clock.nowMs(), verified, pinned: unverified });
  }

  #clientFor(request: RegistryRequest): Deno.HttpClient {
    const { caCertificates, clientCertificates = [] } = request.connection;
    const key = JSON.stringify([caCertificates, clientCertificates[0]]);
    const client = this.#clients.get(key) ?? openClient(request);
    this.#clients.set(key, client);
    return client;
  }

  [Symbol.dispose](): void {
    this.#clients.clear();
  }
}

function contentOf(
  { form, body }: Hop,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | undefined {
  if (form !== undefined) return form.toString();
  return typeof body?.content === "function" ? body.content() : body?.content;
}

/** The same bytes; faults become RegistryErrors. */
function describeFaults(stream: ReadableStream<Uint8Array>, hop: Hop): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const part = await reader.read();
        if (part.done) controller.close();
        else controller.enqueue(part.value);
      } catch (error) {
        controller.error(error instanceof RegistryError ? error : classify(hop, error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** Throws TooLarge, and what `take` throws. A large error body reads as empty. */
async function readBody(response: Response, { hop, take }: {
  readonly hop: Hop;
  readonly take: TakeMemory;
}): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array();
  const maxBytes = response.ok ? hop.maxBytes : Math.min(hop.maxBytes, FREE_BYTES);
  const bytes = await collectBody(response.body, { maxBytes, take });
  if (bytes === undefined && response.ok) {
    throw exchangeError(hop, "TooLarge", `answered with more than ${maxBytes} bytes`);
  }
  return bytes ?? new Uint8Array();
}

/** HTTP/1.1: over HTTP/2 the runtime delays small answers by 40 ms. */
function openClient(request: RegistryRequest): Deno.HttpClient {
  const { caCertificates, clientCertificates: [own] = [] } = request.connection;
  const tls = own === undefined ? {} : { cert: own.certificate, key: own.key };
  try {
    return Deno.createHttpClient({ caCerts: [...caCertificates], http2: false, ...tls });
  } catch (error) {
    throw exchangeError(request, "Misconfigured", "is configured with certificates that cannot be read", error);
  }
}
