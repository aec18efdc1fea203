// HTTPS without verifying the certificate, only where the operator allows it: `fetch` cannot skip verification for one
// request, node:https can. Looks like fetch to transport.ts.
import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { Agent, type AgentOptions, request as httpsRequest, type RequestOptions } from "node:https";
import { proxyFor, type ProxySettings } from "./proxy.ts";
import type { ClientCertificate } from "../pull_plan.ts";

/** Statuses whose answer has no body by definition. */
const EMPTY: readonly number[] = [204, 205, 304];

/** What to send, and how to get there. */
export interface UnverifiedRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Shown to the server, which may verify us although we do not verify it. */
  readonly clientCertificate: ClientCertificate | undefined;
  /** The only addresses to connect to; undefined: whatever the name resolves to. Through a proxy they do not count. */
  readonly addresses: readonly string[] | undefined;
  readonly proxies: ProxySettings;
}

/** Like fetch with `redirect: "manual"`; rejects with what node:https says when no answer comes. */
export function fetchUnverified(url: URL, request: UnverifiedRequest): Promise<Response> {
  const { method, headers, body, signal } = request;
  const options = { method, headers: Object.fromEntries(headers), signal, ...connectionOptions(url, request) };
  return new Promise((resolve, reject) => {
    const sending = httpsRequest(url, options, (message) => {
      // Thrown from here it would end the process: an answer can be stranger than a Response may be.
      try {
        resolve(toResponse(message, method));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    let fault: unknown = new Error("connection closed before an answer");
    sending.on("error", (error) => {
      fault = error;
    });
    // Only then is everything of this request gone; after an answer it means nothing.
    sending.on("close", () => reject(fault));
    sending.end(body);
  });
}

/** Node's option for a proxy of one agent alone, which the types do not know yet. */
interface ProxiedAgentOptions extends AgentOptions {
  readonly proxyEnv: { readonly HTTPS_PROXY: string };
}

function connectionOptions(url: URL, { clientCertificate, addresses, proxies }: UnverifiedRequest): RequestOptions {
  const own = clientCertificate === undefined
    ? {}
    : { cert: clientCertificate.certificate, key: clientCertificate.key };
  const tls = { rejectUnauthorized: false, ...own };
  const proxy = proxyFor(proxies, url);
  if (proxy !== undefined) {
    const through: ProxiedAgentOptions = { proxyEnv: { HTTPS_PROXY: proxy } };
    return { ...tls, agent: new Agent(through) };
  }
  // No agent: a pooled connection would outlive the signal, and insecure registries are rare.
  return { ...tls, agent: false, ...(addresses === undefined ? {} : { lookup: pinnedTo(addresses) }) };
}

/** Answers with addresses that were checked: a name that resolves to others a moment later gets nowhere (DNS rebinding). */
function pinnedTo(addresses: readonly string[]): NonNullable<RequestOptions["lookup"]> {
  const found = addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (first === undefined) return callback(new Error("the name has no address"), "");
    if (options.all === true) return callback(null, found);
    return callback(null, first.address, first.family);
  };
}

function toResponse(message: IncomingMessage, method: string): Response {
  const status = message.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  if (method === "HEAD" || EMPTY.includes(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  const isGzip = headers.get("content-encoding")?.toLowerCase() === "gzip";
  const bytes = toStream(message);
  return new Response(isGzip ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes, { status, headers });
}

function toStream(message: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  return new ReadableStream({
    start: (controller) => {
      const end = (act: () => void): void => {
        if (!isOver) act();
        isOver = true;
      };
      message.on("data", (chunk: Uint8Array) => {
        if (isOver) return;
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 1) <= 0) message.pause();
      });
      message.on("end", () => end(() => controller.close()));
      message.on("error", (error) => end(() => controller.error(error)));
      // A connection cut in the middle may say nothing but this.
      message.on("close", () => end(() => controller.error(new Error("connection closed before the end of the body"))));
    },
    pull: () => void message.resume(),
    cancel: () => {
      isOver = true;
      message.destroy();
    },
  });
}
