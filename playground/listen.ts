// A listener on loopback: plain by Deno.serve, TLS by the service's own, with a throw-away authority and certificate.
import { type KeyPair, openHttpsListener } from "../lib/server/https_listener.ts";
import { issueAuthority, issueServing } from "../lib/tls/issue.ts";

export type Handler = (request: Request) => Response | Promise<Response>;

export interface Listener extends AsyncDisposable {
  readonly host: string;
  readonly origin: string;
}

interface ListenOptions {
  readonly port?: number | undefined;
  /** Serving certificate; plain HTTP without one. */
  readonly certificate?: KeyPair | undefined;
}

export async function listen(handler: Handler, { certificate, port = 0 }: ListenOptions): Promise<Listener> {
  return certificate === undefined ? listenPlain(handler, { port }) : await listenTls(handler, { certificate, port });
}

export function listenPlain(handler: Handler, { port = 0 }: Pick<ListenOptions, "port"> = {}): Listener {
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, handler);
  const host = `127.0.0.1:${server.addr.port}`;
  return { host, origin: `http://${host}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

export async function listenTls(
  handler: Handler,
  { certificate, port = 0 }: ListenOptions & { readonly certificate: KeyPair },
): Promise<Listener> {
  const server = await openHttpsListener({ host: "127.0.0.1", port, certificate, handler });
  const host = `127.0.0.1:${server.port}`;
  return { host, origin: `https://${host}`, [Symbol.asyncDispose]: () => server.close(0) };
}

/** An authority and a certificate it signed for 127.0.0.1, ::1 and localhost. */
export interface LoopbackCertificates {
  readonly authority: string;
  readonly serving: KeyPair;
}

const LIFETIME_MS = 30 * 86_400_000;

/** Issues authority and certificate, valid for thirty days. The authority's key is not kept. */
export async function issueLoopbackCertificates(nowMs: number): Promise<LoopbackCertificates> {
  const validity = { nowMs, lifetimeMs: LIFETIME_MS };
  const authority = await issueAuthority(validity);
  const serving = await issueServing(authority, { ...validity, names: ["127.0.0.1", "::1", "localhost"] });
  return { authority: authority.cert, serving };
}
