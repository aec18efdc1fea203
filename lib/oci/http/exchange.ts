// One HTTP exchange with a registry: its request, its answer, the hop that a redirect leads to, and its faults.
import { errorText } from "../../log.ts";
import type { Callers } from "../callers.ts";
import { type InspectionError, inspectionError } from "../errors.ts";
import type { RequestKind, RequestLog, TraceEntry } from "../request_log.ts";
import { type EndpointTransport, transportElsewhere } from "../pull_plan.ts";
import type { FailureReason } from "../types.ts";
import { describeWireFault } from "./wire_fault.ts";

export interface ExchangeBody {
  readonly contentType: string;
  /** A stream is sent as it comes, and opened once: the function throws InspectionError when it is called again. */
  readonly content: Uint8Array<ArrayBuffer> | (() => ReadableStream<Uint8Array<ArrayBuffer>>);
  readonly range?: string | undefined;
}

/** A request. What of it is secret (`authorization`, `headers`, `form`) never crosses to another origin. */
export interface RegistryRequest {
  /** GET and HEAD read; a POST with a form is a login; everything else writes. */
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: URL;
  readonly transport: EndpointTransport;
  readonly accept?: string | undefined;
  readonly authorization?: string | undefined;
  /** The `Authorization` header for one other origin that redirects may lead to; nothing else is sent to other origins. */
  readonly anonymous?: AnonymousAuthorization | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly form?: URLSearchParams;
  readonly body?: ExchangeBody | undefined;
  /** Until the headers and until the body are there (ms); absent: those of the transport, which suit small documents. */
  readonly timeouts?: { readonly headersMs: number; readonly totalMs: number } | undefined;
  /** The body of a 200 answer is given as it comes: `maxBytes` and the total time do not hold for it. */
  readonly isStreamed?: boolean | undefined;
  readonly maxBytes: number;
  readonly kind: RequestKind;
  readonly requestLog: RequestLog;
  readonly callers: Callers;
}

export interface AnonymousAuthorization {
  readonly origin: string;
  readonly authorization: string;
}

/** A request on its way. The path it was redirected to may be a secret, as that of a signed address is. */
export type Hop = RegistryRequest & { readonly hidesPath?: true; readonly redirect?: Redirect };

interface Redirect {
  readonly origin: string;
  /** Whether all redirects stayed on the origin of the request. The answer of another origin is not that of the first. */
  readonly isSameOrigin: boolean;
}

export interface RegistryResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The body of an exchange that is streamed: read it to its end or cancel it. Fails with InspectionError. */
  readonly stream?: ReadableStream<Uint8Array> | undefined;
  readonly redirect: Redirect | undefined;
}

/** Whether a text can be the value of a header. The runtime would quote one that cannot in its error. */
export function isSendable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text.trim());
}

/** The headers to send. Throws Unauthorized when the credential is none that a header can hold. */
export function headersOf(exchange: RegistryRequest, userAgent: string): Headers {
  const { accept, authorization, form, body } = exchange;
  const headers = new Headers({ ...exchange.headers });
  headers.set("user-agent", userAgent);
  headers.set("docker-distribution-api-version", "registry/2.0");
  if (accept !== undefined) headers.set("accept", accept);
  if (form !== undefined) headers.set("content-type", "application/x-www-form-urlencoded");
  if (body !== undefined) headers.set("content-type", body.contentType);
  if (body?.range !== undefined) headers.set("content-range", body.range);
  if (authorization === undefined) return headers;
  if (!isSendable(authorization)) {
    throw failed(exchange, "Unauthorized", "would need a credential with characters that no header can hold");
  }
  headers.set("authorization", authorization);
  return headers;
}

/** The next hop: to another origin goes nothing secret, nor what the operator declared about the first one. */
export function redirected(hop: Hop, location: string): Hop {
  const url = URL.canParse(location, hop.url) ? new URL(location, hop.url) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === undefined || !isWeb || hop.url.protocol === "https:" && url.protocol === "http:") {
    throw failed(hop, "ServerError", "redirected to an address that is not https");
  }
  const hidesPath = true;
  const { origin } = url;
  const isSameOrigin = origin === hop.url.origin;
  const redirect = { origin, isSameOrigin: isSameOrigin && hop.redirect?.isSameOrigin !== false };
  if (isSameOrigin) return { ...hop, url, hidesPath, redirect };
  const { authorization: _kept, headers: _configured, ...rest } = hop;
  const authorization = hop.anonymous?.origin === origin ? hop.anonymous.authorization : undefined;
  const transport = transportElsewhere(hop.transport, hop.url.host, url);
  return { ...rest, authorization, url, hidesPath, redirect, transport };
}

/** Names what went wrong on the wire by what the runtime says of it. */
export function classify(hop: Hop, error: unknown): InspectionError {
  // Without the address: a host may be called `tls`, and the query may be secret.
  const text = errorText(error).replaceAll(/https?:\/\/\S+/g, "…").replaceAll(hop.url.host, "…");
  const { reason, what } = describeWireFault(text);
  return failed(hop, reason, what, error);
}

/** For an undeclared host that never answered: a difference would show tenants a network that they cannot reach. */
export function concealed(hop: Hop, cause: unknown): InspectionError {
  const { host } = hop.url;
  const what = `could not be reached. If it is meant to be used, declare it with --registry ${host}, ` +
    "without TLS with --insecure-registry";
  return failed(hop, "Unreachable", what, cause);
}

/** The error for an exchange that failed; `what` goes on after "the registry". */
export function failed(hop: Hop, reason: FailureReason, what: string, cause?: unknown): InspectionError {
  const name = `${hop.url.host}${pathOf(hop)}`;
  const verb = isWrite(hop) ? "write to" : "read";
  return inspectionError(reason, `Cannot ${verb} "${name}": the registry ${what}.`, { registry: hop.url.host, cause });
}

/** Whether an exchange changes what the registry has. It goes to the address it is for and is never redirected. */
export function isWrite({ method, form }: RegistryRequest): boolean {
  return method !== "GET" && method !== "HEAD" && form === undefined;
}

export function loginOf({ authorization, headers = {}, form }: RegistryRequest): TraceEntry["authorization"] {
  if (form !== undefined) return "form";
  const configured = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (authorization === undefined) return configured ? "other" : undefined;
  return authorization.startsWith("Basic ") ? "Basic" : "Bearer";
}

/** Longer than the path of any document; that of a token server is the registry's to choose. */
const MAX_SHOWN_PATH = 500;

export function pathOf({ url: { pathname }, hidesPath }: Hop): string {
  if (hidesPath === true) return "/…";
  return pathname.length > MAX_SHOWN_PATH ? `${pathname.slice(0, MAX_SHOWN_PATH)}…` : pathname;
}
