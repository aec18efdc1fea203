// Counts the requests of a fault proxy and lets the plan have its way with them.
import type { IncomingMessage, ServerResponse } from "node:http";
import { arrayBuffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { chooseFault, classifyRequest, type Fault, type FaultRule, type RequestKind } from "./fault_plan.ts";
import type { Answer, Upstream } from "./fault_upstream.ts";

export interface SeenRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly hadAuthorization: boolean;
  /** Status that was sent; 0 when none was. */
  readonly status: number;
}

export interface StorageRequest {
  readonly path: string;
  readonly hadAuthorization: boolean;
}

export interface TrafficOptions {
  readonly upstream: Upstream;
  readonly random: () => number;
  readonly storageUrl: string;
}

export class Traffic implements Disposable {
  readonly seen: SeenRequest[] = [];
  readonly stored: StorageRequest[] = [];
  readonly #options: TrafficOptions;
  readonly #stop = new AbortController();
  readonly #storage = new Map<string, Answer>();
  #rules: readonly FaultRule[] = [];

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.#rules = rules;
  }

  counts(): Readonly<Record<RequestKind, number>> {
    const counts = { ping: 0, manifestGet: 0, manifestHead: 0, blobGet: 0, token: 0, other: 0 };
    for (const { kind } of this.seen) counts[kind] += 1;
    return counts;
  }

  reset(): void {
    this.seen.length = 0;
    this.stored.length = 0;
  }

  abort(): void {
    this.#stop.abort();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const target = classifyRequest(method, url.split("?")[0] ?? url);
    const fault = chooseFault(this.#rules, target, this.#options.random);
    const index = this.seen.push({
      kind: target.kind,
      method,
      path: url,
      hadAuthorization: request.headers.authorization !== undefined,
      status: 0,
    }) - 1;
    const body = new Uint8Array(await arrayBuffer(request));
    if (fault?.kind === "reset") return void request.socket.destroy();
    if (fault?.kind === "blackHole") return;
    if (fault?.kind === "latency") await this.#pauseUntilStop(fault.ms);
    const answer = fault?.kind === "status"
      ? renderStatus(fault)
      : this.#alter(fault, await this.#options.upstream.ask({ method, path: url, headers: request.headers, body }));
    const record = this.seen[index];
    // A reset() meanwhile has emptied the list; then this request is forgotten too.
    if (record?.path === url) this.seen[index] = { ...record, status: answer.status };
    await this.#send(answer, { response, fault, isHead: method === "HEAD" });
  }

  async handleStorage(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    this.stored.push({ path, hadAuthorization: request.headers.authorization !== undefined });
    const answer = this.#storage.get(path) ?? { status: 404, headers: {}, body: new Uint8Array() };
    await this.#send(answer, { response, fault: undefined, isHead: request.method === "HEAD" });
  }

  #alter(fault: Fault | undefined, answer: Answer): Answer {
    if (answer.status !== 200) return answer;
    switch (fault?.kind) {
      case "tamperBody": {
        const body = answer.body.slice();
        const middle = body.length >> 1;
        if (body.length > 0) body[middle] = (body[middle] ?? 0) ^ 1;
        return { ...answer, body };
      }
      case "wrongDigest":
        return { ...answer, headers: { ...answer.headers, "docker-content-digest": `sha256:${"0".repeat(64)}` } };
      case "redirect": {
        const path = `/stored/${crypto.randomUUID()}`;
        this.#storage.set(path, answer);
        return { status: 307, headers: { location: `${this.#options.storageUrl}${path}` }, body: new Uint8Array() };
      }
      default:
        return answer;
    }
  }

  async #send(
    { status, headers, body }: Answer,
    { response, fault, isHead }: {
      readonly response: ServerResponse;
      readonly fault: Fault | undefined;
      readonly isHead: boolean;
    },
  ): Promise<void> {
    const length = isHead ? headers["content-length"] ?? "0" : String(body.length);
    response.writeHead(status, { ...headers, "content-length": length });
    if (isHead) return void response.end();
    if (fault?.kind === "truncateBody") {
      response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
      return;
    }
    if (fault?.kind === "slowBody") await this.#trickle(body, { response, fault });
    else response.end(body);
  }

  async #trickle(
    body: Uint8Array,
    { response, fault }: { readonly response: ServerResponse; readonly fault: Extract<Fault, { kind: "slowBody" }> },
  ): Promise<void> {
    for (let at = 0; at < body.length; at += fault.chunkBytes) {
      if (response.destroyed || this.#stop.signal.aborted) return;
      response.write(body.subarray(at, at + fault.chunkBytes));
      await this.#pauseUntilStop(fault.everyMs);
    }
    response.end();
  }

  async #pauseUntilStop(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.abort();
  }
}

function renderStatus({ status, retryAfterSeconds }: Extract<Fault, { kind: "status" }>): Answer {
  const body = new TextEncoder().encode(JSON.stringify({ errors: [{ code: "UNKNOWN", message: "injected" }] }));
  const retryAfter = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { status, headers: { "content-type": "application/json", ...retryAfter }, body };
}
