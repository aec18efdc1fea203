// A man in the middle between Archway and the API server: ends TLS, sees every request and every byte of its answer, and
// lets an interceptor drop, forge or cut.
import { Relays } from "../../support/relays.ts";
import { findFreePort } from "./ports.ts";

export interface RequestHead {
  readonly method: string;
  readonly target: string;
}

/** What becomes of a request: it goes on, its connection is cut, or these bytes are its answer and then it is cut. */
export type RequestVerdict = "pass" | "cut" | { readonly forged: Uint8Array<ArrayBuffer> };

/** What becomes of a piece of an answer: so many of its bytes go on; then the connection is cut, if it is. */
export interface AnswerVerdict {
  readonly passBytes: number;
  readonly cut: boolean;
}

export interface ApiInterceptor {
  onRequest?(head: RequestHead): RequestVerdict;
  onAnswer?(head: RequestHead, bytes: Uint8Array<ArrayBuffer>): AnswerVerdict;
}

export interface ApiProxyOptions {
  readonly upstream: { readonly url: string; readonly caPem: string };
  /** What clients of the API server trust: its own certificate and key will do. */
  readonly certificate: { readonly certificatePem: string; readonly keyPem: string };
}

/** Bytes of one read: a TLS record. */
const READ_BYTES = 16_384;
const HEAD = /^(GET|POST|PUT|PATCH|DELETE|HEAD) (\S+) HTTP\/1\.1\r\n/;

/** HTTP/1.1 only, without pipelining: as Archway's client uses it. */
export class ApiProxy implements AsyncDisposable {
  readonly url: string;
  readonly #relays: Relays<Deno.TlsConn>;
  readonly #upstream: ApiProxyOptions["upstream"];
  #interceptor: ApiInterceptor | undefined;

  constructor({ upstream, certificate }: ApiProxyOptions) {
    const port = findFreePort();
    const { certificatePem: cert, keyPem: key } = certificate;
    this.url = `https://127.0.0.1:${port}`;
    this.#upstream = upstream;
    const listener = Deno.listenTls({ hostname: "127.0.0.1", port, cert, key });
    this.#relays = new Relays(listener, (client) => this.#relay(client));
  }

  /** Replaces the interceptor; undefined lets all pass. Open connections feel it at once. */
  intercept(interceptor: ApiInterceptor | undefined): void {
    this.#interceptor = interceptor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relays[Symbol.asyncDispose]();
  }

  async #relay(client: Deno.Conn): Promise<void> {
    const { url, caPem } = this.#upstream;
    const port = Number(new URL(url).port);
    const server = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caPem] });
    using _ = this.#relays.own(server);
    const exchange: { head: RequestHead | undefined } = { head: undefined };
    // The one that ends first ends the other: a half-open connection is of no use.
    const end = (): void => {
      this.#relays.close(client);
      this.#relays.close(server);
    };
    await Promise.allSettled([
      this.#passRequests(client, { server, exchange }).finally(end),
      this.#passAnswers(server, { client, exchange }).finally(end),
    ]);
  }

  async #passRequests(
    client: Deno.Conn,
    { server, exchange }: { readonly server: Deno.Conn; readonly exchange: { head: RequestHead | undefined } },
  ): Promise<void> {
    for await (const bytes of readPieces(client)) {
      const [, method, target] = HEAD.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 4_096))) ?? [];
      if (method !== undefined && target !== undefined) {
        exchange.head = { method, target };
        const verdict = this.#interceptor?.onRequest?.(exchange.head) ?? "pass";
        if (verdict === "cut") return;
        if (verdict !== "pass") return await writeAll(client, verdict.forged);
      }
      await writeAll(server, bytes);
    }
  }

  async #passAnswers(
    server: Deno.Conn,
    { client, exchange }: { readonly client: Deno.Conn; readonly exchange: { head: RequestHead | undefined } },
  ): Promise<void> {
    for await (const bytes of readPieces(server)) {
      const { passBytes, cut } = exchange.head === undefined
        ? { passBytes: bytes.length, cut: false }
        : this.#interceptor?.onAnswer?.(exchange.head, bytes) ?? { passBytes: bytes.length, cut: false };
      await writeAll(client, bytes.subarray(0, passBytes));
      if (cut) return;
    }
  }
}

async function* readPieces(connection: Deno.Conn): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const buffer = new Uint8Array(READ_BYTES);
  for (;;) {
    const length = await connection.read(buffer);
    if (length === null) return;
    yield buffer.slice(0, length);
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
