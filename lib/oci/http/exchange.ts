// One HTTP exchange with a registry: request, answer, redirects and faults.
import { errorText } from "../../log.ts";
import { type FailureReason, type RegistryError, registryError } from "../errors.ts";
import type { RequestKind, TraceEntry } from "../request_log.ts";
import { connectionElsewhere, type ConnectionSettings } from "../endpoint.ts";
import type { Absence } from "../limits/absence.ts";
import { describeWireFault } from "./wire_fault.ts";

export interface ExchangeBody {
  readonly contentType: string;
  /** A stream can be opened once: a second call of the function throws RegistryError. */
  readonly content: Uint8Array<ArrayBuffer> | (() => ReadableStream<Uint8Array<ArrayBuffer>>);
  readonly range?: string | undefined;
}

/** A request without its address and login. */
export interface RegistryMessage {
  readonly kind: RequestKind;
  /** GET and HEAD read; a POST with a form is a login; everything else writes. */
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly accept?: string | undefined;
  readonly body?: ExchangeBody | undefined;
  readonly maxBytes: number;
  /** Holds the memory that a large body takes; absent: the memory is given back when the body is read. */
  readonly memory?: DisposableStack | undefined;
  /** Time until the headers and until the end of the body (ms). Default: the transport's, for small documents. */
  readonly timeouts?: { readonly headersMs: number; readonly totalMs: number } | undefined;
  /** Streams the body of a 200 answer, without `maxBytes` and the total time limit. */
  readonly isStreamed?: boolean | undefined;
}

/**
 * A message with its address and login. Its secrets (`authorization`, `headers`, `form`) are never sent to another
 * origin.
 */
export interface RegistryRequest extends RegistryMessage {
  readonly url: URL;
  readonly connection: ConnectionSettings;
  readonly authorization?: string | undefined;
  /** The `Authorization` header for one other origin after a redirect. Other origins get none. */
  readonly redirectLogin?: AnonymousAuthorization | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly form?: URLSearchParams;
}

export interface AnonymousAuthorization {
  readonly origin: string;
  readonly authorization: string;
}

/** A request, maybe redirected. */
export interface Hop extends RegistryRequest {
  readonly redirect?: Redirect;
  /** The addresses that the guard allowed; undefined for a declared host, which is not checked. */
  readonly addresses?: readonly string[] | undefined;
}

interface Redirect {
  readonly origin: string;
  /** Whether all redirects stayed on the request's origin. Another origin does not answer for the registry. */
  readonly isSameOrigin: boolean;
}

export interface RegistryResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The streamed body: read it to the end or cancel it. Fails with RegistryError. */
  readonly stream?: ReadableStream<Uint8Array> | undefined;
  readonly redirect: Redirect | undefined;
  /** The pause that the registry requests with it (ms). */
  readonly pauseMs: number | undefined;
  /** Whether the answer says that the document is not there. */
  readonly absence: Absence | undefined;
}

/** Whether a text can be a header's value. Otherwise the runtime's error would quote it. */
export function isSendable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text.trim());
}

/** The headers to send. Throws Unauthorized when a header cannot hold the credential. */
export function headersOf(request: RegistryRequest, userAgent: string): Headers {
  const { accept, authorization, form, body } = request;
  const headers = new Headers({ ...request.headers });
  headers.set("user-agent", userAgent);
  headers.set("docker-distribution-api-version", "registry/2.0");
  if (accept !== undefined) headers.set("accept", accept);
  if (form !== undefined) headers.set("content-type", "application/x-www-form-urlencoded");
  if (body !== undefined) headers.set("content-type", body.contentType);
  if (body?.range !== undefined) headers.set("content-range", body.range);
  if (authorization === undefined) return headers;
  if (!isSendable(authorization)) {
    throw exchangeError(request, "Unauthorized", "would need a credential with characters that no header can hold");
  }
  headers.set("authorization", authorization);
  return headers;
}

/** The next hop. Another origin gets neither secrets nor the first origin's declared settings. */
export function redirected(hop: Hop, location: string): Hop {
  const url = URL.canParse(location, hop.url) ? new URL(location, hop.url) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === undefined || !isWeb || hop.url.protocol === "https:" && url.protocol === "http:") {
    throw exchangeError(hop, "ServerError", "redirected to an address that is not https");
  }
  const { origin } = url;
  const isSameOrigin = origin === hop.url.origin;
  const redirect = { origin, isSameOrigin: isSameOrigin && hop.redirect?.isSameOrigin !== false };
  if (isSameOrigin) return { ...hop, url, redirect };
  const { authorization: _kept, headers: _configured, ...rest } = hop;
  const authorization = hop.redirectLogin?.origin === origin ? hop.redirectLogin.authorization : undefined;
  const connection = connectionElsewhere(hop.connection, hop.url.host, url);
  return { ...rest, authorization, url, redirect, connection };
}

/** Classifies a connection fault by the runtime's message. */
export function classify(hop: Hop, error: unknown): RegistryError {
  // Removes the address: a host may be named `tls`, and the query may be secret.
  const text = errorText(error).replaceAll(/https?:\/\/\S+/g, "…").replaceAll(hop.url.host, "…");
  const { reason, what } = describeWireFault(text);
  return exchangeError(hop, reason, what, error);
}

/** The same error for every undeclared host that never answered: a difference would reveal the network to tenants. */
export function concealed(hop: Hop, cause: unknown): RegistryError {
  const { host } = hop.url;
  const what = `could not be reached. If it is meant to be used, declare it with --registry ${host}, ` +
    "without TLS with --insecure-registry";
  return exchangeError(hop, "Unreachable", what, cause);
}

/** The error for a failed exchange; `what` continues "the registry …". */
export function exchangeError(hop: Hop, reason: FailureReason, what: string, cause?: unknown): RegistryError {
  const name = `${hop.url.host}${pathOf(hop)}`;
  const verb = isWrite(hop) ? "write to" : "read";
  return registryError(reason, `Cannot ${verb} "${name}": the registry ${what}.`, { registry: hop.url.host, cause });
}

/** Whether a request changes the registry's content. Such a request is never redirected. */
export function isWrite({ method, form }: RegistryRequest): boolean {
  return method !== "GET" && method !== "HEAD" && form === undefined;
}

export function loginOf({ authorization, headers = {}, form }: RegistryRequest): TraceEntry["authorization"] {
  if (form !== undefined) return "form";
  const configured = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (authorization === undefined) return configured ? "other" : undefined;
  return authorization.startsWith("Basic ") ? "Basic" : "Bearer";
}

/** Longer than any document's path. The registry chooses its token server's path. */
const MAX_SHOWN_PATH = 500;

/** The path to show. That of a redirect may be secret, as in a signed URL. */
export function pathOf({ url: { pathname }, redirect }: Hop): string {
  if (redirect !== undefined) return "/…";
  return pathname.length > MAX_SHOWN_PATH ? `${pathname.slice(0, MAX_SHOWN_PATH)}…` : pathname;
}
