// An API server to cut connections with: one watched collection (pods) over real HTTP/1.1, with or without TLS, and answers
// that a test puts in the way. It proves what clients do when the network misbehaves; it is no model of Kubernetes.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { KubeObject } from "../../lib/k8s/types.ts";

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** Common name of the client's certificate. */
  readonly clientName: string | undefined;
}

/** What to answer. `destroy` cuts the socket without a word, `cut` in the middle of the body, `hang` never answers. */
export type StubAnswer =
  | {
    readonly kind: "json";
    readonly status?: number;
    readonly body: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  }
  | { readonly kind: "destroy" }
  | { readonly kind: "cut" }
  | { readonly kind: "hang" };

/** How to end every open watch. */
export type WatchCut = "end" | "destroy" | "half-line" | "gone" | "gone-left-open";

/** Keys of a TLS server. With `clientCa` it asks for client certificates. */
export interface StubTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
}

interface StubEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
  readonly version: number;
}

interface Obstacle {
  readonly matches: (request: StubRequest) => boolean;
  readonly answer: StubAnswer;
}

export function statusBody(code: number, reason: string, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `stub says ${reason}`, ...more };
}

/** Matches the watches, the lists, or requests of a method. */
export const Match = {
  any: (): boolean => true,
  watch: (request: StubRequest): boolean => request.query.get("watch") === "true",
  list: (request: StubRequest): boolean => request.method === "GET" && request.query.get("watch") !== "true",
} as const;

/** The server. Open with {@link openApiServerStub}, dispose to close. */
export class ApiServerStub implements AsyncDisposable {
  readonly requests: StubRequest[] = [];
  /** A watcher with more unsent bytes than this is dropped, as the real server drops those who read too slowly. */
  slowReaderBytes = Infinity;
  /** How many watches were dropped for that. */
  slowReadersDropped = 0;
  readonly #server: ReturnType<typeof createHttpServer>;
  readonly #scheme: "http" | "https";
  readonly #objects = new Map<string, KubeObject>();
  readonly #watchers = new Set<ServerResponse>();
  readonly #pages = new Map<string, readonly KubeObject[]>();
  #events: StubEvent[] = [];
  #obstacles: Obstacle[] = [];
  #version = 100;
  #oldestVersion = 100;

  constructor(tls: StubTls | undefined) {
    const listener: RequestListener = (message, response) => void this.#serve(message, response);
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server = tls === undefined ? createHttpServer(listener) : createHttpsServer({
      cert: tls.cert,
      key: tls.key,
      ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
    }, listener);
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", () => resolve()));
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot tell the port: not listening.");
    return address.port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  get watching(): number {
    return this.#watchers.size;
  }

  get version(): number {
    return this.#version;
  }

  /** The next request that matches gets this answer instead; `times` of them do. */
  obstruct(matches: Obstacle["matches"], answer: StubAnswer, times = 1): void {
    for (let n = 0; n < times; n++) this.#obstacles.push({ matches, answer });
  }

  /** Creates or changes an object of the collection and sends it to the watches. Gives its new resourceVersion. */
  put(name: string, members: Readonly<Record<string, unknown>> = {}): string {
    const type = this.#objects.has(name) ? "MODIFIED" : "ADDED";
    const resourceVersion = String(++this.#version);
    const known = this.#objects.get(name);
    const uid = known?.metadata.uid ?? `uid-${resourceVersion}`;
    const object = { ...members, metadata: { name, namespace: "default", uid, resourceVersion } };
    this.#objects.set(name, object);
    this.#publish({ type, object, version: this.#version });
    return resourceVersion;
  }

  /** Deletes an object and sends that to the watches. */
  remove(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) return;
    this.#objects.delete(name);
    const resourceVersion = String(++this.#version);
    const last = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#publish({ type: "DELETED", object: last, version: this.#version });
  }

  /** Increases the version without a change and sends it in a bookmark. */
  bookmark(): void {
    const resourceVersion = String(++this.#version);
    this.#write(`${JSON.stringify({ type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion } } })}\n`);
  }

  /** Forgets what has happened so far: watches from before get 410. */
  compact(): void {
    this.#events = [];
    this.#oldestVersion = this.#version;
    this.#pages.clear();
  }

  cutWatches(how: WatchCut): void {
    const gone = `${JSON.stringify({ type: "ERROR", object: statusBody(410, "Expired") })}\n`;
    for (const response of this.#watchers) {
      if (how === "end") response.end();
      else if (how === "destroy") response.socket?.destroy();
      else if (how === "gone") response.end(gone);
      else if (how === "gone-left-open") response.write(gone);
      else if (how === "half-line") {
        response.write('{"type":"ADDED","object":{"metadata":{"name":"half', () => response.socket?.destroy());
      }
    }
    this.#watchers.clear();
  }

  /** Stops listening and cuts every connection: the API server is gone. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#watchers.clear();
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  #publish(event: StubEvent): void {
    this.#events.push(event);
    this.#write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
  }

  #write(line: string): void {
    for (const response of this.#watchers) {
      response.write(line);
      if (response.writableLength <= this.slowReaderBytes) continue;
      this.slowReadersDropped++;
      this.#watchers.delete(response);
      response.socket?.destroy();
    }
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    this.requests.push(request);
    const at = this.#obstacles.findIndex(({ matches }) => matches(request));
    const [obstacle] = at < 0 ? [] : this.#obstacles.splice(at, 1);
    if (obstacle !== undefined) return answer(response, obstacle.answer);
    if (Match.watch(request)) return this.#watch(request, response);
    if (request.method === "GET") return this.#list(request, response);
    answer(response, { kind: "json", status: 404, body: statusBody(404, "NotFound") });
  }

  #list(request: StubRequest, response: ServerResponse): void {
    const limit = Number(request.query.get("limit") ?? "500");
    const token = request.query.get("continue");
    const left = token === null ? [...this.#objects.values()] : this.#pages.get(token);
    if (left === undefined) {
      return answer(response, { kind: "json", status: 410, body: statusBody(410, "Expired") });
    }
    const version = token?.split(":")[0] ?? String(this.#version);
    const next = `${version}:${crypto.randomUUID()}`;
    const hasMore = left.length > limit;
    if (hasMore) this.#pages.set(next, left.slice(limit));
    const metadata = { resourceVersion: version, ...(hasMore ? { continue: next } : {}) };
    answer(response, { kind: "json", body: { kind: "PodList", metadata, items: left.slice(0, limit) } });
  }

  #watch(request: StubRequest, response: ServerResponse): void {
    const from = Number(request.query.get("resourceVersion"));
    if (from < this.#oldestVersion) {
      return answer(response, { kind: "json", status: 410, body: statusBody(410, "Expired") });
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    response.on("close", () => this.#watchers.delete(response));
    this.#watchers.add(response);
    for (const { type, object, version } of this.#events) {
      if (version > from) response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }
}

/** Opens the stub on a free port (or a given one) of the loopback interface. */
export async function openApiServerStub(
  options: { readonly tls?: StubTls; readonly port?: number } = {},
): Promise<ApiServerStub> {
  const stub = new ApiServerStub(options.tls);
  await stub.listen(options.port);
  return stub;
}

async function readRequest(message: IncomingMessage): Promise<StubRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const url = new URL(message.url ?? "/", "http://stub");
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)]);
  const certificate: unknown = Reflect.get(message.socket, "getPeerCertificate")?.call(message.socket);
  const subject: unknown = Reflect.get(Object(certificate), "subject");
  const clientName: unknown = Reflect.get(Object(subject), "CN");
  return {
    method: message.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: Object.fromEntries(headers),
    body: new TextDecoder().decode(await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).arrayBuffer()),
    clientName: typeof clientName === "string" ? clientName : undefined,
  };
}

function answer(response: ServerResponse, what: StubAnswer): void {
  switch (what.kind) {
    case "json": {
      response.writeHead(what.status ?? 200, { "content-type": "application/json", ...what.headers });
      response.end(JSON.stringify(what.body));
      break;
    }
    case "destroy":
      response.socket?.destroy();
      break;
    case "cut":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"metadata":', () => response.socket?.destroy());
      break;
    case "hang":
      break;
  }
}
