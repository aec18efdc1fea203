// One HTTP exchange with a registry, safely: guarded address, verified TLS, time and size limits, redirects without
// credentials. Everything above speaks in answers. Used by client.ts and token.ts.
import { STATUS_CODES } from "node:http";
import type { Clock } from "../clock.ts";
import { errorText } from "../log.ts";
import { guardAddress, type Resolve } from "./address_guard.ts";
import { InspectionError, inspectionError } from "./errors.ts";
import type { Ledger, RequestKind } from "./ledger.ts";
import type { EndpointTransport, FailureReason } from "./types.ts";
import { fetchUnverified } from "./unverified_tls.ts";
import { describeWireFault } from "./wire_fault.ts";

/** A request. Only `authorization` is secret; it never crosses to another origin. */
export interface Exchange {
  /** A POST is only ever a login. */
  readonly method: "GET" | "HEAD" | "POST";
  /** Where to; its query never shows up anywhere. */
  readonly url: URL;
  /** How to reach the host. */
  readonly transport: EndpointTransport;
  /** The `Accept` header. */
  readonly accept?: string;
  /** The `Authorization` header. */
  readonly authorization?: string;
  /** A form to send with POST. */
  readonly form?: URLSearchParams;
  /** Decoded bytes of the body to take at most. */
  readonly maxBytes: number;
  /** What it is counted as. */
  readonly kind: RequestKind;
  /** Counts and traces it. */
  readonly ledger: Ledger;
}

/** A request on its way. The path it was redirected to may be a secret, as that of a signed address is. */
type Hop = Exchange & { readonly hidesPath?: true };

/** An answer, whole. */
export interface Answer {
  /** HTTP status. */
  readonly status: number;
  /** As received. */
  readonly headers: Headers;
  /** Decoded. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Sends exchanges over pooled connections. */
export interface Transport extends Disposable {
  /** Throws InspectionError when no whole answer comes; any HTTP status is an answer. */
  send(exchange: Exchange, signal: AbortSignal): Promise<Answer>;
}

const HEADERS_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Trust sets kept open: certificates change rarely, hosts with their own are few. */
const MAX_CLIENTS = 64;

/** What a transport is made with. */
export interface TransportParts {
  /** Times exchanges. */
  readonly clock: Clock;
  /** Finds addresses, for the guard. */
  readonly resolve: Resolve;
  /** The `User-Agent` header. */
  readonly userAgent: string;
  /** Until the headers are there (ms), default 5 s: a registry that needs longer is as good as down. */
  readonly headersTimeoutMs?: number;
  /** Until the body is there (ms), default 15 s. */
  readonly totalTimeoutMs?: number;
}

/** Opens the transport; nothing is connected before the first exchange. */
export function openTransport(parts: TransportParts): Transport {
  return new PooledTransport(parts);
}

interface Limits {
  readonly within: AbortSignal;
  readonly onHeaders: () => void;
}

class PooledTransport implements Transport {
  readonly #parts: TransportParts;
  readonly #clients = new Map<string, Deno.HttpClient>();

  constructor(parts: TransportParts) {
    this.#parts = parts;
  }

  async send(exchange: Exchange, signal: AbortSignal): Promise<Answer> {
    const limit = new AbortController();
    const headersTimer = setTimeout(() => limit.abort(), this.#parts.headersTimeoutMs ?? HEADERS_TIMEOUT_MS);
    const totalTimer = setTimeout(() => limit.abort(), this.#parts.totalTimeoutMs ?? TOTAL_TIMEOUT_MS);
    const within = AbortSignal.any([signal, limit.signal]);
    try {
      return await this.#follow(exchange, { within, onHeaders: () => clearTimeout(headersTimer) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw limit.signal.aborted ? failed(exchange, "Timeout", "did not answer in time", error) : error;
    } finally {
      clearTimeout(headersTimer);
      clearTimeout(totalTimer);
    }
  }

  async #follow(
    exchange: Exchange,
    { within, onHeaders }: Limits,
  ): Promise<Answer> {
    let hop: Hop = exchange;
    for (let redirects = 0;; redirects++) {
      if (!hop.transport.declared) await guardAddress(hop.url.host, { resolve: this.#parts.resolve, signal: within });
      const answer = await this.#once(hop, { within, onHeaders });
      const location = answer.headers.get("location");
      if (!REDIRECTS.includes(answer.status) || location === null) return answer;
      // A form holds a refresh token: it goes to the address it is for and nowhere else.
      if (hop.method === "POST") throw failed(hop, "ServerError", "redirected a login");
      if (redirects === MAX_REDIRECTS) throw failed(hop, "ServerError", `redirected more than ${MAX_REDIRECTS} times`);
      hop = redirected(hop, location);
    }
  }

  async #once(
    exchange: Hop,
    { within, onHeaders }: Limits,
  ): Promise<Answer> {
    const { ledger, url, method } = exchange;
    const startedMs = this.#parts.clock.monotonicMs();
    const shown = `${url.origin}${pathOf(exchange)}`;
    ledger.count(exchange.kind);
    try {
      const response = await this.#open(exchange, within);
      onHeaders();
      const body = await readBody(response, exchange);
      const ms = this.#parts.clock.monotonicMs() - startedMs;
      ledger.note({ method, url: shown, status: response.status, ms, note: STATUS_CODES[response.status] ?? "" });
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      const ms = this.#parts.clock.monotonicMs() - startedMs;
      const failure = error instanceof InspectionError ? error : classify(exchange, error);
      ledger.note({ method, url: shown, status: "failed", ms, note: failure.failure.reason });
      throw failure;
    }
  }

  #open(exchange: Exchange, signal: AbortSignal): Promise<Response> {
    const headers = new Headers({
      "user-agent": this.#parts.userAgent,
      "docker-distribution-api-version": "registry/2.0",
    });
    if (exchange.accept !== undefined) headers.set("accept", exchange.accept);
    if (exchange.authorization !== undefined) headers.set("authorization", sendable(exchange, exchange.authorization));
    if (exchange.form !== undefined) headers.set("content-type", "application/x-www-form-urlencoded");
    const { url, method, transport } = exchange;
    const body = exchange.form?.toString();
    if (url.protocol === "https:" && !transport.verifyTls) {
      const { clientCertificate } = transport;
      const own = clientCertificate === undefined ? {} : { clientCertificate };
      return fetchUnverified(url, { method, headers, signal, ...own, ...(body === undefined ? {} : { body }) });
    }
    const client = this.#clientFor(exchange);
    return fetch(url, { method, headers, redirect: "manual", signal, client, ...(body === undefined ? {} : { body }) });
  }

  /** One pool of connections for each set of certificates. */
  #clientFor(exchange: Exchange): Deno.HttpClient {
    const { caCertificates, clientCertificate } = exchange.transport;
    const key = JSON.stringify([caCertificates, clientCertificate]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#clients.size >= MAX_CLIENTS ? this.#clients : [];
    if (oldest !== undefined) {
      this.#clients.delete(oldest[0]);
      oldest[1].close();
    }
    const client = openClient(exchange);
    this.#clients.set(key, client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}

/** HTTP/1.1: with HTTP/2 the runtime waits 40 ms on small answers. Throws Misconfigured for certificates it cannot read. */
function openClient(exchange: Exchange): Deno.HttpClient {
  const { caCertificates, clientCertificate } = exchange.transport;
  const tls = clientCertificate === undefined
    ? {}
    : { cert: clientCertificate.certificate, key: clientCertificate.key };
  try {
    return Deno.createHttpClient({ caCerts: [...caCertificates], http2: false, ...tls });
  } catch (error) {
    throw failed(exchange, "Misconfigured", "is configured with certificates that cannot be read", error);
  }
}

/** Whether a text can stand in a header. What cannot would be repeated by the runtime in its complaint. */
export function isSendable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text.trim());
}

function sendable(exchange: Exchange, authorization: string): string {
  if (isSendable(authorization)) return authorization;
  throw failed(exchange, "Unauthorized", "would need a credential with characters that no header can hold");
}

/** The next hop: to another origin goes neither the credential nor what the operator declared about the first one. */
function redirected(hop: Hop, location: string): Hop {
  const url = URL.canParse(location, hop.url) ? new URL(location, hop.url) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === undefined || !isWeb || hop.url.protocol === "https:" && url.protocol === "http:") {
    throw failed(hop, "ServerError", "redirected to an address that is not https");
  }
  const hidesPath = true;
  if (url.origin === hop.url.origin) return { ...hop, url, hidesPath };
  const { authorization: _kept, ...rest } = hop;
  const { clientCertificate: _own, ...transport } = hop.transport;
  const sameHost = url.hostname === hop.url.hostname;
  return {
    ...rest,
    url,
    hidesPath,
    transport: { ...transport, verifyTls: true, declared: transport.declared && sameHost },
  };
}

/** A body of at most `maxBytes` decoded bytes; what is beyond is never read. */
async function readBody(response: Response, exchange: Hop): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength;
    if (bytes > exchange.maxBytes) {
      await reader.cancel();
      throw failed(exchange, "TooLarge", `answered with more than ${exchange.maxBytes} bytes`);
    }
    chunks.push(part.value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Names what went wrong on the wire by what the runtime says of it. */
function classify(exchange: Hop, error: unknown): InspectionError {
  // Without the address: a host may be called `tls`, and the query is nobody's business.
  const text = errorText(error).replaceAll(/https?:\/\/\S+/g, "…").replaceAll(exchange.url.host, "…");
  const { reason, what } = describeWireFault(text);
  return failed(exchange, reason, what, error);
}

function failed(exchange: Hop, reason: FailureReason, what: string, cause?: unknown): InspectionError {
  const { host } = exchange.url;
  const name = `${host}${pathOf(exchange)}`;
  return inspectionError(reason, `Cannot read "${name}": the registry ${what}.`, { registry: host, cause });
}

function pathOf({ url, hidesPath }: Hop): string {
  return hidesPath === true ? "/…" : url.pathname;
}
