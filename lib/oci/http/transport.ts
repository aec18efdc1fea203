// Sends exchanges safely: guarded address, verified TLS, time and size limits, redirects without credentials.
import { STATUS_CODES } from "node:http";
import { LRUCache } from "lru-cache";
import { type Clock, untilAborted } from "../../clock.ts";
import { guardAddress, isPublicAddress, type Resolve } from "./address_guard.ts";
import { InspectionError } from "../errors.ts";
import type { ImageLimits } from "../limits/image_limits.ts";
import { collectBody, FREE_BYTES, type TakeMemory } from "./body.ts";
import {
  classify,
  concealed,
  failed,
  headersOf,
  type Hop,
  isWrite,
  loginOf,
  pathOf,
  redirected,
  type RegistryRequest,
  type RegistryResponse,
} from "./exchange.ts";
import type { TraceEntry } from "../request_log.ts";
import { proxyFor, type ProxySettings } from "./proxy.ts";
import { PinnedHosts } from "../../tls/pinned_hosts.ts";
import { fetchUnverified } from "../../tls/unverified_fetch.ts";

/** Documents are small: a request to a registry that sends slowly is better repeated, and pods must not wait 10 s for a healthy one. */
export const DOCUMENT_TIMEOUTS = { headersMs: 5_000, totalMs: 7_000 };
const MAX_REDIRECTS = 5;
/** Image names come from tenants: there may be any number of hosts. */
const MAX_ANSWERED = 1_000;
/** Sets of certificates kept open: they change rarely, and hosts with their own are few. */
const MAX_CLIENTS = 64;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export interface TransportDeps {
  readonly limits: ImageLimits;
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly userAgent: string;
  /** The proxies of the environment. `fetch` applies them by itself; resolving names and connecting without `fetch` use these. */
  readonly proxies: ProxySettings;
  /** Who reads what failed: to `tenants` (default) messages show nothing of a network that they cannot reach. */
  readonly audience?: "tenants" | "caller" | undefined;
  /** Of exchanges that bring none. */
  readonly timeouts: NonNullable<RegistryRequest["timeouts"]>;
}

interface Deadline {
  readonly within: AbortSignal;
  readonly onHeaders: () => void;
}

/** A hop with the addresses that the guard has passed; undefined for a declared host, which it does not check. */
interface GuardedHop {
  readonly hop: Hop;
  readonly addresses: readonly string[] | undefined;
}

export class Transport implements Disposable {
  readonly #deps: TransportDeps;
  readonly #clients = new LRUCache<string, Deno.HttpClient>({ max: MAX_CLIENTS, dispose: (client) => client.close() });
  readonly #pinnedHosts = new PinnedHosts();
  readonly #answered = new LRUCache<string, true>({ max: MAX_ANSWERED });

  constructor(deps: TransportDeps) {
    this.#deps = deps;
  }

  /** Throws InspectionError when no whole answer comes; any HTTP status is an answer. */
  async send(exchange: RegistryRequest, signal: AbortSignal): Promise<RegistryResponse> {
    const deadline = new AbortController();
    const { headersMs, totalMs } = exchange.timeouts ?? this.#deps.timeouts;
    const headersTimer = setTimeout(() => deadline.abort(), headersMs);
    const totalTimer = setTimeout(() => deadline.abort(), totalMs);
    const within = AbortSignal.any([signal, deadline.signal]);
    try {
      return await this.#follow(exchange, { within, onHeaders: () => clearTimeout(headersTimer) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // At a private address even the lack of an answer is no more than being out of reach.
      const isUnreachable = error instanceof InspectionError && error.failure.reason === "Unreachable";
      if (!deadline.signal.aborted || isUnreachable) throw error;
      throw failed(exchange, "Timeout", "did not answer in time", error);
    } finally {
      clearTimeout(headersTimer);
      clearTimeout(totalTimer);
    }
  }

  async #follow(exchange: RegistryRequest, { within, onHeaders }: Deadline): Promise<RegistryResponse> {
    let hop: Hop = exchange;
    for (let redirects = 0;; redirects++) {
      const addresses = hop.transport.declared ? undefined : await this.#guard(hop, within);
      const answer = await this.#sendHop({ hop, addresses }, { within, onHeaders });
      const location = answer.headers.get("location");
      if (!REDIRECTS.includes(answer.status) || location === null) return answer;
      // A form holds a refresh token: it goes to the address it is for and nowhere else.
      if (hop.form !== undefined) throw failed(hop, "ServerError", "redirected a login");
      if (isWrite(hop)) throw failed(hop, "ServerError", "redirected a write, which is not followed");
      if (redirects === MAX_REDIRECTS) throw failed(hop, "ServerError", `redirected more than ${MAX_REDIRECTS} times`);
      hop = redirected(hop, location);
    }
  }

  /** A proxy resolves names itself: resolving them here may fail or hang. */
  #guard({ url, callers }: Hop, signal: AbortSignal): Promise<readonly string[]> {
    const isProxied = url.protocol === "https:" && proxyFor(this.#deps.proxies, url) !== undefined;
    const resolve: Resolve = async (hostname) => {
      if (isProxied) return [];
      // Held until the lookup itself ends: it goes on when nobody waits for it any more.
      using _permit = await this.#deps.limits.lookups.acquire(callers, signal);
      return await this.#deps.resolve(hostname, signal);
    };
    return guardAddress(url.host, { resolve, signal });
  }

  async #sendHop(guarded: GuardedHop, { within, onHeaders }: Deadline): Promise<RegistryResponse> {
    const { hop } = guarded;
    const { requestLog, url, method } = hop;
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
      const response = await this.#open(guarded, within);
      onHeaders();
      const { status, headers } = response;
      const streamed = hop.isStreamed === true && status === 200 ? response.body : null;
      const stream = streamed === null ? undefined : describeFaults(streamed, hop);
      const take: TakeMemory = (bytes) =>
        this.#deps.limits.takeMemory(bytes, { callers: hop.callers, registry: url.host });
      const body = stream === undefined ? await readBody(response, { hop, take }) : new Uint8Array();
      trace({ status, note: STATUS_CODES[status] ?? "" });
      if (status < 500) this.#answered.set(url.host, true);
      return { status, headers, body, redirect: hop.redirect, stream };
    } catch (error) {
      const fault = this.#mayDescribe(guarded) ? classify(hop, error) : concealed(hop, error);
      const failure = error instanceof InspectionError ? error : fault;
      // The time until the answer must not distinguish a closed port at a private address from a silent one either.
      if (failure.failure.reason === "Unreachable" && this.#isHidden(guarded)) await untilAborted(within);
      trace({ status: "failed", note: failure.failure.reason });
      throw failure;
    }
  }

  /** `fetch` may have met another address than the guard: only a host that has answered counts as a public one. */
  #mayDescribe({ hop, addresses }: GuardedHop): boolean {
    if (addresses === undefined || this.#deps.audience === "caller") return true;
    return addresses.every(isPublicAddress) && this.#answered.has(hop.url.host);
  }

  /** Whether the time until a failure would reveal an address that tenants cannot reach. Exchanges with own time limits read no tenant's image. */
  #isHidden({ hop, addresses = [] }: GuardedHop): boolean {
    const isOwnTask = this.#deps.audience === "caller" || hop.timeouts !== undefined;
    if (isOwnTask || this.#answered.has(hop.url.host)) return false;
    return addresses.some((address) => !isPublicAddress(address));
  }

  #open({ hop, addresses }: GuardedHop, signal: AbortSignal): Promise<Response> {
    const { url, method, transport } = hop;
    const headers = headersOf(hop, this.#deps.userAgent);
    const body = contentOf(hop);
    const request = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    const verified = (): Promise<Response> =>
      fetch(url, { ...request, redirect: "manual", client: this.#clientFor(hop) });
    if (url.protocol !== "https:") return verified();
    const [clientCertificate] = transport.clientCertificates ?? [];
    const proxyUrl = proxyFor(this.#deps.proxies, url);
    const unverified = (judge?: (certificate: Uint8Array) => void): Promise<Response> =>
      fetchUnverified(url, { ...request, clientCertificate, addresses, proxyUrl, judge });
    if (!transport.verifyTls) return unverified();
    const trusted = transport.caCertificates;
    return this.#pinnedHosts.fetch(url, { trusted, nowMs: this.#deps.clock.nowMs(), verified, pinned: unverified });
  }

  #clientFor(exchange: RegistryRequest): Deno.HttpClient {
    const { caCertificates, clientCertificates = [] } = exchange.transport;
    const key = JSON.stringify([caCertificates, clientCertificates[0]]);
    const client = this.#clients.get(key) ?? openClient(exchange);
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

/** The same bytes; what breaks them off is an InspectionError. */
function describeFaults(stream: ReadableStream<Uint8Array>, hop: Hop): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const part = await reader.read();
        if (part.done) controller.close();
        else controller.enqueue(part.value);
      } catch (error) {
        controller.error(error instanceof InspectionError ? error : classify(hop, error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** Throws TooLarge, and what `take` throws. A large refusal counts as empty. */
async function readBody(response: Response, { hop, take }: {
  readonly hop: Hop;
  readonly take: TakeMemory;
}): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array();
  const maxBytes = response.ok ? hop.maxBytes : Math.min(hop.maxBytes, FREE_BYTES);
  const bytes = await collectBody(response.body, { maxBytes, take });
  if (bytes === undefined && response.ok) throw failed(hop, "TooLarge", `answered with more than ${maxBytes} bytes`);
  return bytes ?? new Uint8Array();
}

/** HTTP/1.1: with HTTP/2 the runtime waits 40 ms on small answers. */
function openClient(exchange: RegistryRequest): Deno.HttpClient {
  const { caCertificates, clientCertificates: [own] = [] } = exchange.transport;
  const tls = own === undefined ? {} : { cert: own.certificate, key: own.key };
  try {
    return Deno.createHttpClient({ caCerts: [...caCertificates], http2: false, ...tls });
  } catch (error) {
    throw failed(exchange, "Misconfigured", "is configured with certificates that cannot be read", error);
  }
}
