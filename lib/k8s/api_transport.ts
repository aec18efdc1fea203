// Requests to the API server: limited parallelism, fresh credentials, time limits, and safe retries.
import pLimit, { type LimitFunction } from "p-limit";
import { backoffMs, type Clock, type Deadline, openDeadline, orAborted } from "../clock.ts";
import { isDenseText } from "../json.ts";
import type { Logger } from "../log.ts";
import { connectionError, NoAnswer, responseError } from "./response_errors.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { AnswerTooLarge, ApiError } from "./api_error.ts";
import { readAhead } from "./read_ahead.ts";
import { renderJsonBody } from "./patch.ts";
import { ServerConnections } from "./server_connections.ts";

/** Limit of parallel requests, watches aside. Lets releases catch up with creations after a slow first image. */
export const MAX_PARALLEL_REQUESTS = 64;

/** Attempts per call, including the first. The caller's own backoff handles longer outages. */
const MAX_ATTEMPTS = 3;
const RETRY_BACKOFF = { baseMs: 200, capMs: 2_000 } as const;
/** If the server asks for a longer pause (ms), the call fails, and the caller's backoff waits. */
const MAX_RETRY_AFTER_MS = 10_000;

/** One request. `action` describes it in error messages: `patch pods "ns/name"`. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: unknown;
  readonly holdBack?: Promise<void> | undefined;
  readonly timeoutMs: number;
  /** Reading a larger answer throws AnswerTooLarge. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** Parsing an answer with more members and elements throws AnswerTooLarge. Default: no limit. */
  readonly maxStructure?: number | undefined;
  readonly action: string;
  /** `urgent` requests skip the queue: a Lease must be renewed during a burst. */
  readonly priority: "bulk" | "urgent";
}

interface MeasuredAnswer {
  readonly body: unknown;
  readonly bytes: number;
}

export interface ApiCall {
  readonly method: ApiRequest["method"];
  readonly status: number;
  readonly durationMs: number;
}

export interface ApiTransportOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  readonly observe?: (call: ApiCall) => void;
  /** Receives a sentence for the user whenever a request timed out and is retried. */
  readonly onSilence?: ((sentence: string) => void) | undefined;
}

/** Throws ApiError, AnswerTooLarge, or the signal's reason when the caller aborts. */
export class ApiTransport implements AsyncDisposable {
  readonly serverClock: ServerClock;
  readonly #access: ClusterAccess;
  readonly #options: ApiTransportOptions;
  readonly #bulk: LimitFunction = pLimit(MAX_PARALLEL_REQUESTS);
  readonly #connections: ServerConnections;

  constructor(access: ClusterAccess, options: ApiTransportOptions) {
    this.#access = access;
    this.#connections = new ServerConnections(access);
    this.#options = options;
    this.serverClock = new ServerClock(options.clock);
  }

  /** Sends, retries if safe, and returns the body: parsed JSON, or text. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return (await this.sendMeasured(request, signal)).body;
  }

  async sendMeasured(request: ApiRequest, signal: AbortSignal): Promise<MeasuredAnswer> {
    let renewed = false;
    for (let attempt = 1;; attempt++) {
      try {
        const once = (): Promise<MeasuredAnswer> => this.#sendOnce(request, signal);
        return await (request.priority === "urgent" ? once() : this.#bulk(once));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 401 && !renewed) {
          renewed = true;
          this.#access.discardCredentials();
          continue;
        }
        const waitMs = attempt < MAX_ATTEMPTS ? retryDelayMs(error, { method: request.method, attempt }) : undefined;
        if (waitMs === undefined) throw error;
        const { action } = request;
        this.#options.log.debug("api request is tried again", { action, status: error.status, waitMs });
        if (error.reason === NoAnswer.timeout) {
          this.#options.onSilence?.(
            `Cannot ${action} yet: no answer, trying again (${attempt + 1} of ${MAX_ATTEMPTS}).`,
          );
        }
        await this.#options.clock.sleep(waitMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Makes one attempt; `timeoutMs` limits the head. Ending the generator disconnects. A cut stream throws ApiError. */
  async *stream<T>(
    request: ApiRequest,
    options: {
      readonly signal: AbortSignal;
      /** Must end when its signal aborts: Deno does not always settle reads of an aborted body. */
      readonly read: (
        body: ReadableStream<Uint8Array<ArrayBuffer>>,
        options: { readonly signal: AbortSignal },
      ) => AsyncIterable<T>;
    },
  ): AsyncGenerator<T, void> {
    using deadline = this.#deadline(request, options.signal);
    try {
      const response = await this.#fetch(request, deadline.signal);
      deadline.cancel();
      if (response.body !== null) yield* options.read(response.body, { signal: deadline.signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#access.discardCredentials();
      throw this.#faultOf(error, { request, signal: options.signal });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  async #sendOnce(request: ApiRequest, signal: AbortSignal): Promise<MeasuredAnswer> {
    signal.throwIfAborted();
    using deadline = this.#deadline(request, signal);
    try {
      const response = await this.#fetch(request, deadline.signal);
      const isJson = response.headers.get("content-type")?.includes("json") ?? false;
      const { text, bytes } = await readAnswer(response, { ...request, signal: deadline.signal });
      return { body: isJson ? parseAnswer(text, request) : text, bytes };
    } catch (error) {
      throw this.#faultOf(error, { request, signal });
    }
  }

  /** A successful answer, whose body the caller must consume. */
  async #fetch(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    const { clock, observe, userAgent } = this.#options;
    const credentials = await orAborted(this.#access.credentials(), signal);
    const content = request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" };
    const { accept = "application/json" } = request;
    const headers = { ...credentials.headers, accept, "user-agent": userAgent, ...content };
    const body = request.body === undefined ? undefined : renderJsonBody(request.body);
    const sentMs = clock.monotonicMs();
    let status = 0;
    try {
      const response = await this.#connections.fetch(
        request.path + renderQuery(request.query),
        { method: request.method, headers, body, holdBack: request.holdBack, signal },
        { tls: credentials.tls, nowMs: clock.nowMs() },
      );
      status = response.status;
      this.serverClock.learn(response.headers.get("date"), { sentMs, receivedMs: clock.monotonicMs() });
      if (!response.ok) throw await responseError(response, request.action);
      return response;
    } finally {
      observe?.({ method: request.method, status, durationMs: clock.monotonicMs() - sentMs });
    }
  }

  #deadline(request: ApiRequest, signal: AbortSignal): Deadline {
    return openDeadline(request.timeoutMs, { signal, clock: this.#options.clock });
  }

  #faultOf(error: unknown, options: { readonly request: ApiRequest; readonly signal: AbortSignal }): unknown {
    if (options.signal.aborted) return options.signal.reason;
    if (error instanceof ApiError || error instanceof AnswerTooLarge) return error;
    return connectionError(error, { action: options.request.action, host: new URL(this.#access.baseUrl).host });
  }
}

function renderQuery(query: ApiRequest["query"] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value)}`
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/**
 * The wait before retrying a request; undefined when it must not be retried.
 *
 * | fault                        | GET | writes                                                 |
 * |------------------------------|-----|--------------------------------------------------------|
 * | 429                          | yes | yes: refused before it was read                        |
 * | no connection could be made  | yes | yes: the server has seen nothing                       |
 * | 5xx, cut, no answer in time  | yes | no: it may have been processed                         |
 *
 * A kept-alive connection may close before the first byte of the answer. Then Deno's fetch (2.9.6, seen on a stub)
 * resends any request. So every write must be safe to send twice, by a `test` in its patch, a resourceVersion, or a
 * name that we chose.
 */
function retryDelayMs(
  error: ApiError,
  options: { readonly method: ApiRequest["method"]; readonly attempt: number },
): number | undefined {
  const isUnseen = error.status === 429 || error.reason === NoAnswer.unreachable;
  const isTransient = error.status === 0 || error.status >= 500;
  if (!isUnseen && !(isTransient && options.method === "GET")) return undefined;
  const pauseMs = error.retryAfterMs ?? 0;
  return pauseMs > MAX_RETRY_AFTER_MS ? undefined : Math.max(pauseMs, backoffMs(options.attempt, RETRY_BACKOFF));
}

function parseAnswer(text: string, { action, maxStructure }: ApiRequest): unknown {
  if (maxStructure !== undefined && isDenseText(text, maxStructure)) {
    throw new AnswerTooLarge(`Cannot ${action}: the answer has more than ${maxStructure} members.`);
  }
  return JSON.parse(text);
}

/** Throws AnswerTooLarge beyond `maxBytes` decompressed bytes. Without `maxBytes`, `bytes` are characters. */
async function readAnswer(
  response: Response,
  { action, maxBytes, signal }: Pick<ApiRequest, "action" | "maxBytes"> & { readonly signal: AbortSignal },
): Promise<{ readonly text: string; readonly bytes: number }> {
  if (maxBytes === undefined || response.body === null) {
    const text = await response.text();
    return { text, bytes: text.length };
  }
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of readAhead(response.body, { maxBytes, signal })) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new AnswerTooLarge(`Cannot ${action}: the answer has more than ${maxBytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), bytes };
}

/** The server's time relative to our monotonic clock: jumps of our wall clock do not change the age of pods. */
export class ServerClock {
  readonly #clock: Clock;
  /** Bounds of the server's epoch time minus our monotonic time (ms). */
  #lowMs = -Infinity;
  #highMs = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server set the header, cut to a second, between `sentMs` and `receivedMs`. A clock jump resets the bounds. */
  learn(dateHeader: string | null, options: { readonly sentMs: number; readonly receivedMs: number }): void {
    const dateMs = Date.parse(dateHeader ?? "");
    if (Number.isNaN(dateMs)) return;
    const [low, high] = [dateMs - options.receivedMs, dateMs + 1_000 - options.sentMs];
    const [bothLow, bothHigh] = [Math.max(low, this.#lowMs), Math.min(high, this.#highMs)];
    [this.#lowMs, this.#highMs] = bothLow <= bothHigh ? [bothLow, bothHigh] : [low, high];
  }

  /** How far the server's clock is ahead of our wall clock (ms), by the middle of the bounds; 0 until an answer. */
  offsetMs(): number {
    if (!Number.isFinite(this.#lowMs)) return 0;
    const serverMs = this.#clock.monotonicMs() + (this.#lowMs + this.#highMs) / 2;
    return Math.round(serverMs - this.#clock.nowMs());
  }
}
