// HTTPS over a connection that the runtime does not verify: `fetch` cannot skip verification for one request,
// node:https can. Either the operator wants no verification, or `judge` checks the certificate before any byte of the
// request is written. By then the runtime has proven that the server holds the certificate's key (not for X.509 v1).
//
// Node's `ca` option stays empty: with a CA, an unreadable certificate throws past every handler, and a certificate
// that cannot be parsed counts as verified.
import type { LookupAddress } from "node:dns";
import type { ClientRequest } from "node:http";
import { Agent, type AgentOptions, request as httpsRequest, type RequestOptions } from "node:https";
import { TLSSocket } from "node:tls";
import { nodeResponse } from "./node_response.ts";

type RequestContent = string | Uint8Array | ReadableStream<Uint8Array>;

interface UnverifiedRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: RequestContent | undefined;
  readonly signal: AbortSignal;
  /** PEM, shown to the server, which may verify us although we do not verify it. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /** The only addresses to connect to; undefined: whatever the name resolves to. Through a proxy they do not count. */
  readonly addresses?: readonly string[] | undefined;
  readonly proxyUrl?: string | undefined;
  readonly serverName?: string | undefined;
  /** Throws when the server's certificate (DER) is not good enough to send anything. Absent: any server will do. */
  readonly judge?: ((certificate: Uint8Array) => void) | undefined;
}

/** Like fetch with `redirect: "manual"`; rejects with what node:https says, or `judge` throws, when no answer comes. */
export function fetchUnverified(url: URL, request: UnverifiedRequest): Promise<Response> {
  const { method, headers, body, signal, judge } = request;
  if (body instanceof Uint8Array) headers.set("content-length", String(body.byteLength));
  const options = { method, headers: Object.fromEntries(headers), signal, ...connectionOptions(request) };
  return nodeResponse(method, (onAnswer) => {
    const sending = httpsRequest(url, options, onAnswer);
    if (judge === undefined) sendBody(sending, body);
    else sendOnceJudged(sending, { body, judge });
    return sending;
  });
}

/** Nothing of a request is written before {@link sendBody} writes or ends it. */
function sendOnceJudged(
  sending: ClientRequest,
  { body, judge }: { readonly body: RequestContent | undefined; readonly judge: (certificate: Uint8Array) => void },
): void {
  const onSecure = (socket: TLSSocket): void => {
    try {
      judge(certificateOf(socket));
      sendBody(sending, body);
    } catch (error) {
      sending.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  sending.once("socket", (socket) => {
    if (!(socket instanceof TLSSocket)) sending.destroy(new Error("connection without TLS"));
    else if (socket.getProtocol() !== null && !socket.connecting) onSecure(socket);
    else socket.once("secureConnect", () => onSecure(socket));
  });
}

/** Sends a stream no faster than the connection takes it; an error of the stream ends the request. */
function sendBody(sending: ClientRequest, body: RequestContent | undefined): void {
  if (!(body instanceof ReadableStream)) {
    sending.end(body);
    return;
  }
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  sending.once("close", stop);
  const pump = async (): Promise<void> => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (sending.destroyed) return;
      // A copy: the stream may free a chunk when the next one is read, while the chunk still waits to be sent.
      if (!sending.write(new Uint8Array(part.value))) await drained(sending);
    }
    sending.end();
  };
  pump().catch((error: unknown) => sending.destroy(error instanceof Error ? error : new Error(String(error))));
}

function drained(sending: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      sending.off("drain", finish);
      sending.off("close", finish);
      resolve();
    };
    sending.on("drain", finish);
    sending.on("close", finish);
  });
}

/** The server's certificate in DER. Throws the runtime's error for a chain that it cannot parse. */
function certificateOf(socket: TLSSocket): Uint8Array {
  const certificate: Partial<ReturnType<TLSSocket["getPeerCertificate"]>> | null = socket.getPeerCertificate(true);
  if (certificate?.raw === undefined) throw new Error("the server showed no certificate");
  return certificate.raw;
}

/** Node's option for a proxy of one agent alone, which the types lack. */
interface ProxiedAgentOptions extends AgentOptions {
  readonly proxyEnv: { readonly HTTPS_PROXY: string };
}

function connectionOptions(request: UnverifiedRequest): RequestOptions {
  const { clientCertificate: own, addresses, proxyUrl, serverName } = request;
  const tls = {
    rejectUnauthorized: false, // eslint-disable-line no-restricted-syntax -- judge() looks at it, or nobody wants to
    // No CA is used. Without this the runtime would read the system's CAs, which no permission by name can allow.
    ca: [],
    ...(own === undefined ? {} : { cert: own.certificate, key: own.key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
  if (proxyUrl !== undefined) {
    const through: ProxiedAgentOptions = { proxyEnv: { HTTPS_PROXY: proxyUrl } };
    return { ...tls, agent: new Agent(through) };
  }
  // No agent: a pooled connection would outlive the signal, and such servers are rare.
  return { ...tls, agent: false, ...(addresses === undefined ? {} : { lookup: pinnedTo(addresses) }) };
}

/**
 * Answers with the addresses that were checked, so a name that later resolves to others gains nothing (DNS rebinding).
 */
function pinnedTo(addresses: readonly string[]): NonNullable<RequestOptions["lookup"]> {
  const found = addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (first === undefined) return callback(new Error("the name has no address"), "");
    if (options.all === true) return callback(null, found);
    return callback(null, first.address, first.family);
  };
}
