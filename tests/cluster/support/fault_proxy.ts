// A counting reverse proxy in front of a registry that can misbehave in every way networks do.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type FaultRule, type RequestKind } from "./fault_plan.ts";
import { seededRandom } from "../../support/random.ts";
import { type SeenRequest, type StorageRequest, Traffic } from "./fault_traffic.ts";
import { type CertificateAuthority, createAuthority, type IssuedCertificate } from "./pki.ts";
import { findFreePort, listenOn } from "./ports.ts";
import { passBytes, Relays } from "../../support/relays.ts";
import { Upstream } from "./fault_upstream.ts";

export type PresentedCertificate = "trusted" | "untrusted";

export interface FaultProxy extends AsyncDisposable {
  /** `127.0.0.1:PORT`: the registry host to put into image references. */
  readonly host: string;
  readonly url: string;
  readonly caFile: string;
  readonly caPem: string;
  /** `127.0.0.1:PORT` of where redirects lead: another host, so credentials must not arrive there. */
  readonly storageHost: string;
  /** Replaces the plan; `[]` heals everything. Requests that hang already stay so. */
  setFaults(rules: readonly FaultRule[]): void;
  presentCertificate(which: PresentedCertificate): Promise<void>;
  /** Requests since the start or the last {@link reset}, by kind. */
  counts(): Readonly<Record<RequestKind, number>>;
  requests(): readonly SeenRequest[];
  storageRequests(): readonly StorageRequest[];
  reset(): void;
}

/** `upstream`: the registry; its own faults and rights pass through. */
export async function startFaultProxy(
  options: { readonly upstream: { readonly url: string; readonly caPem: string } },
): Promise<FaultProxy> {
  await using undo = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ prefix: "archway-fault-proxy-" });
  undo.defer(() => Deno.remove(directory, { recursive: true }));
  const authority = await createAuthority("archway test fault proxy");
  const certificates = await issueCertificates(authority);
  await Deno.writeTextFile(`${directory}/ca.crt`, authority.certificatePem);
  const ports = { proxy: findFreePort(), storage: findFreePort() };
  const origin = (port: number): string => `https://127.0.0.1:${port}`;
  const upstream = undo.use(new Upstream(options.upstream, origin(ports.proxy)));
  const traffic = undo.use(new Traffic({ upstream, random: seededRandom(1), storageUrl: origin(ports.storage) }));
  const certificate = certificates.trusted;
  const proxy = undo.use(
    await Listener.open({ port: ports.proxy, certificate, handle: (...args) => traffic.handle(...args) }),
  );
  undo.use(
    await Listener.open({ port: ports.storage, certificate, handle: (...args) => traffic.handleStorage(...args) }),
  );
  // Hanging answers end before the listeners are closed.
  undo.defer(() => traffic.abort());
  const opened = undo.move();
  return {
    host: `127.0.0.1:${ports.proxy}`,
    url: origin(ports.proxy),
    caFile: `${directory}/ca.crt`,
    caPem: authority.certificatePem,
    storageHost: `127.0.0.1:${ports.storage}`,
    setFaults: (rules) => traffic.setFaults(rules),
    presentCertificate: (which) => proxy.present(which, certificates[which]),
    counts: () => traffic.counts(),
    requests: () => [...traffic.seen],
    storageRequests: () => [...traffic.stored],
    reset: () => traffic.reset(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function issueCertificates(
  authority: CertificateAuthority,
): Promise<Readonly<Record<PresentedCertificate, IssuedCertificate>>> {
  const stranger = await createAuthority("archway test stranger");
  const request = { commonName: "registry", usage: "server" } as const;
  return {
    trusted: await authority.issue(request),
    untrusted: await stranger.issue(request),
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface ListenerOptions {
  readonly port: number;
  readonly certificate: IssuedCertificate | undefined;
  readonly handle: Handle;
}

/** An HTTP(S) listener. node:https, because Deno.serve stalls small TLS answers by 44 ms. */
class Listener implements AsyncDisposable {
  readonly #options: ListenerOptions;
  #opened: AsyncDisposable;

  private constructor(options: ListenerOptions, opened: AsyncDisposable) {
    this.#options = options;
    this.#opened = opened;
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    return new Listener(options, await listen(options));
  }

  /**
   * Opens the port anew. A wrong certificate comes from a relay: all node:https servers of a process share their TLS
   * sessions, so a client that resumes one would never see the new certificate (Deno 2.9.6).
   */
  async present(which: PresentedCertificate, certificate: IssuedCertificate): Promise<void> {
    const { port } = this.#options;
    await this.#opened[Symbol.asyncDispose]();
    if (which === "trusted") {
      this.#opened = await listen(this.#options);
      return;
    }
    const targetPort = findFreePort();
    await using stack = new AsyncDisposableStack();
    stack.use(await listen({ ...this.#options, port: targetPort, certificate: undefined }));
    stack.use(relayTls({ port, targetPort, certificate }));
    this.#opened = stack.move();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }
}

/** Terminates TLS on a port and passes the plain bytes to another. Its TLS sessions are its own. */
function relayTls(
  { port, targetPort, certificate: { certificatePem: cert, keyPem: key } }: {
    readonly port: number;
    readonly targetPort: number;
    readonly certificate: IssuedCertificate;
  },
): AsyncDisposable {
  const relays = new Relays(
    Deno.listenTls({ hostname: "127.0.0.1", port, cert, key }),
    async (client): Promise<void> => {
      await client.handshake();
      const target = await Deno.connect({ hostname: "127.0.0.1", port: targetPort });
      using _ = relays.own(target);
      await passBytes(client, target);
    },
  );
  return relays;
}

async function listen({ port, certificate, handle }: ListenerOptions): Promise<AsyncDisposable> {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => response.destroy());
  };
  const server = certificate === undefined
    ? createServer(onRequest)
    : createTlsServer({ cert: certificate.certificatePem, key: certificate.keyPem }, onRequest);
  return await listenOn(port, server);
}
