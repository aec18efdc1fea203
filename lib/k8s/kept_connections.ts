// HTTP/1.1 over kept connections, for less processor time than `fetch`. For direct servers; the runtime verifies certificates.
import { orAborted } from "../clock.ts";
import { errorText } from "../log.ts";
import type { TlsIdentity } from "./cluster_access.ts";
import { readWireAnswer, type WireAnswer } from "./wire_answer.ts";

export interface WireRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The body is sent when this resolves; the head is sent at once. */
  readonly holdBack?: Promise<void> | undefined;
  readonly signal: AbortSignal;
}

/** An idle connection is closed after this time (ms), before the API server closes it (90 s). */
const MAX_IDLE_MS = 60_000;

interface Kept {
  readonly connection: Deno.Conn;
  readonly idleSinceMs: number;
}

/** Nothing came over a connection: one that was kept may have been closed meanwhile. */
class Unanswered extends Error {}

export class KeptConnections implements Disposable {
  readonly #maxIdle: number;
  /** Longest idle first. */
  #idle: Kept[] = [];
  #tls: TlsIdentity | undefined;

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle;
  }

  /** Rejects as `fetch` does. A request whose kept connection ends before the first byte of an answer is sent once more. */
  async send(url: URL, request: WireRequest, tls: TlsIdentity): Promise<WireAnswer> {
    // A rotated CA: what was verified by the old one is not used any more.
    if (this.#tls !== tls) this[Symbol.dispose]();
    this.#tls = tls;
    const kept = this.#takeIdle();
    try {
      if (kept !== undefined) return await this.#exchange(kept, url, request);
    } catch (error) {
      if (!(error instanceof Unanswered) || request.signal.aborted) throw error;
    }
    return await this.#exchange(await connect(url, tls, request.signal), url, request);
  }

  [Symbol.dispose](): void {
    for (const { connection } of this.#idle.splice(0)) connection.close();
  }

  async #exchange(connection: Deno.Conn, url: URL, request: WireRequest): Promise<WireAnswer> {
    const { signal } = request;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) connection.close();
      isOpen = false;
    };
    signal.addEventListener("abort", close, { once: true });
    let hasAnswered = false;
    try {
      signal.throwIfAborted();
      await sendRequest(connection, url, request);
      const answer = await readWireAnswer(connection, () => hasAnswered = true);
      if (answer.isReusable && isOpen) this.#keep(connection);
      else close();
      return answer;
    } catch (error) {
      close();
      // The others lead to the same server.
      this[Symbol.dispose]();
      signal.throwIfAborted();
      throw hasAnswered ? error : new Unanswered(errorText(error));
    } finally {
      signal.removeEventListener("abort", close);
    }
  }

  #keep(connection: Deno.Conn): void {
    const nowMs = performance.now();
    this.#idle.push({ connection, idleSinceMs: nowMs });
    const isOver = ({ idleSinceMs }: Kept): boolean => nowMs - idleSinceMs > MAX_IDLE_MS;
    while (this.#idle.length > this.#maxIdle || this.#idle.some(isOver)) this.#idle.shift()?.connection.close();
  }

  #takeIdle(): Deno.Conn | undefined {
    const kept = this.#idle.pop();
    if (kept === undefined || performance.now() - kept.idleSinceMs <= MAX_IDLE_MS) return kept?.connection;
    kept.connection.close();
    this[Symbol.dispose]();
    return undefined;
  }
}

async function connect(url: URL, { caCerts }: TlsIdentity, signal: AbortSignal): Promise<Deno.Conn> {
  const isSecure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const open = async (): Promise<Deno.Conn> => {
    const plain = await Deno.connect({ hostname, port: Number(url.port || (isSecure ? "443" : "80")) });
    plain.setNoDelay(true);
    if (!isSecure) return plain;
    const secured = await Deno.startTls(plain, { hostname, caCerts: [...caCerts] });
    try {
      await secured.handshake();
      return secured;
    } catch (error) {
      secured.close();
      throw error;
    }
  };
  const opening = open();
  try {
    return await orAborted(opening, signal);
  } catch (error) {
    opening.then((late) => late.close(), () => {});
    signal.throwIfAborted();
    throw new Error(`client error (Connect): ${errorText(error)}`);
  }
}

async function sendRequest(connection: Deno.Conn, url: URL, request: WireRequest): Promise<void> {
  const { method, headers, body, holdBack, signal } = request;
  const encoder = new TextEncoder();
  const content = body === undefined ? undefined : encoder.encode(body);
  const length = content === undefined ? {} : { "content-length": String(content.byteLength) };
  const lines = Object.entries({ host: url.host, ...headers, ...length }).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) throw new Error(`Cannot send the header "${name}": it has a line break.`);
    return `${name}: ${value}\r\n`;
  });
  const head = encoder.encode(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`);
  if (content === undefined) return await writeAll(connection, head);
  if (holdBack !== undefined) {
    await writeAll(connection, head);
    await orAborted(holdBack, signal);
    return await writeAll(connection, content);
  }
  const whole = new Uint8Array(head.byteLength + content.byteLength);
  whole.set(head);
  whole.set(content, head.byteLength);
  await writeAll(connection, whole);
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.byteLength;) sent += await connection.write(bytes.subarray(sent));
}
