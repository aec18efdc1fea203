// Requests to the API server: a limit of parallel ones, fresh credentials, time limits, retries where they are safe.
import pLimit, { type LimitFunction } from "p-limit";
import { backoffMs, type Clock, orAborted } from "../clock.ts";
import { isDenseText } from "../json.ts";
import type { Logger } from "../log.ts";
import { faultOfConnection, faultOfResponse, NoAnswer } from "./api_faults.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { type Deadline, openDeadline } from "./deadline.ts";
import { AnswerTooLarge, ApiError } from "./errors.ts";
import { readAhead } from "./read_ahead.ts";
import { renderJsonBody } from "./patch.ts";
import { type ServerAnswer, ServerConnection } from "./server_connection.ts";

/** Parallel requests, watches aside: enough for releases to catch up with creations after a slow first image. */
export const MAX_PARALLEL_REQUESTS = 64;

/** Attempts of one call, the first included. Longer troubles belong to the caller's own backoff. */
const MAX_ATTEMPTS = 3;
const RETRY_BACKOFF = { baseMs: 200, capMs: 2_000 } as const;
/** A server that asks for a longer pause gets it from the caller's backoff, which does not hold a call open. */
const MAX_RETRY_AFTER_MS = 10_000;

/** One request. `action` is what error messages call it: `patch pods "ns/name"`. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: unknown;
  readonly holdBack?: Promise<void> | undefined;
  readonly timeoutMs: number;
  /** An answer with more bytes is not read to its end: AnswerTooLarge. Default: any. */
  readonly maxBytes?: number | undefined;
  /** An answer with more members and elements is not parsed: AnswerTooLarge. Default: any. */
  readonly maxStructure?: number | undefined;
  readonly action: string;
  /** `urgent` requests do not wait behind others: a Lease must be renewed in the middle of a burst. */
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
  /** Receives a sentence for the user each time that a request has timed out and is sent again. */
  readonly onSilence?: ((sentence: string) => void) | undefined;
}

/** Throws ApiError, AnswerTooLarge, or the signal's reason when the caller aborts. */
export class ApiTransport implements AsyncDisposable {
  readonly serverClock: ServerClock;
  readonly #access: ClusterAccess;
  readonly #options: ApiTransportOptions;
  readonly #bulk: LimitFunction = pLimit(MAX_PARALLEL_REQUESTS);
  readonly #connection: ServerConnection;

  constructor(access: ClusterAccess, options: ApiTransportOptions) {
    this.#access = access;
    this.#connection = new ServerConnection(access, MAX_PARALLEL_REQUESTS);
    this.#options = options;
    this.serverClock = new ServerClock(options.clock);
  }

  /** Sends, retries where that is safe, and gives the body: JSON parsed, anything else as text. */
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

  /** One attempt; the head has `timeoutMs` to arrive. The connection closes when the generator ends. A cut throws ApiError. */
  async *stream<T>(
    request: ApiRequest,
    options: {
      readonly signal: AbortSignal;
      /** Must end when the signal of its options aborts: Deno does not always settle a read of an aborted body. */
      readonly read: (
        body: ReadableStream<Uint8Array<ArrayBuffer>>,
        options: { readonly signal: AbortSignal },
      ) => AsyncIterable<T>;
    },
  ): AsyncGenerator<T, void> {
    using deadline = this.#deadline(request, options.signal);
    try {
      const response = await this.#fetch(request, { answer: "stream", signal: deadline.signal });
      deadline.cancel();
      if (response.body !== null) yield* options.read(response.body, { signal: deadline.signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#access.discardCredentials();
      throw this.#faultOf(error, { request, signal: options.signal });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  async #sendOnce(request: ApiRequest, signal: AbortSignal): Promise<MeasuredAnswer> {
    signal.throwIfAborted();
    using deadline = this.#deadline(request, signal);
    try {
      const answer = request.maxBytes === undefined ? "whole" : "stream";
      const response = await this.#fetch(request, { answer, signal: deadline.signal });
      const isJson = response.headers.get("content-type")?.includes("json") ?? false;
      const { text, bytes } = await readAnswer(response, { ...request, signal: deadline.signal });
      return { body: isJson ? parseAnswer(text, request) : text, bytes };
    } catch (error) {
      throw this.#faultOf(error, { request, signal });
    }
  }

  /** The answer when it is a success. Its body is the caller's to consume. */
  async #fetch(
    request: ApiRequest,
    { answer, signal }: { readonly answer: "whole" | "stream"; readonly signal: AbortSignal },
  ): Promise<ServerAnswer> {
    const { clock, observe, userAgent } = this.#options;
    const credentials = await orAborted(this.#access.credentials(), signal);
    const content = request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" };
    const { accept = "application/json" } = request;
    const headers = { ...credentials.headers, accept, "user-agent": userAgent, ...content };
    const body = request.body === undefined ? undefined : renderJsonBody(request.body);
    const sentMs = clock.monotonicMs();
    let status = 0;
    try {
      const response = await this.#connection.fetch(
        request.path + renderQuery(request.query),
        { method: request.method, headers, body, holdBack: request.holdBack, answer, signal },
        { tls: credentials.tls, nowMs: clock.nowMs() },
      );
      status = response.status;
      this.serverClock.learn(response.headers.get("date"), { sentMs, receivedMs: clock.monotonicMs() });
      if (!response.ok) throw await faultOfResponse(response, request.action);
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
    return faultOfConnection(error, { action: options.request.action, host: new URL(this.#access.baseUrl).host });
  }
}

function renderQuery(query: ApiRequest["query"] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/**
 * How long to wait before the same request may be sent again, undefined when it must not be.
 *
 * | fault                        | GET | writes                                                 |
 * |------------------------------|-----|--------------------------------------------------------|
 * | 429                          | yes | yes: refused before it was read                        |
 * | no connection could be made  | yes | yes: the server has seen nothing                       |
 * | 5xx, cut, no answer in time  | yes | no: it may have been carried out                       |
 *
 * Below us the connection pool and Deno's fetch (2.9.6, seen on a stub) send any request a second time when a kept-alive
 * connection closes before the first byte of the answer. So every write must bear being sent twice: a patch with `test`, a
 * resourceVersion, a name of our own.
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

/** With `maxBytes`, `bytes` counts decompressed bytes and more of them throw AnswerTooLarge; without, it counts characters. */
async function readAnswer(
  response: ServerAnswer,
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

/** The server's time relative to our monotonic clock, so that a jump of our wall clock makes no pod look older or younger. */
export class ServerClock {
  readonly #clock: Clock;
  /** The server's epoch time less our monotonic time lies between these (ms). */
  #lowMs = -Infinity;
  #highMs = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The header was set between `sentMs` and `receivedMs` (monotonic), cut to a second. Without overlap the server's clock has jumped. */
  learn(dateHeader: string | null, options: { readonly sentMs: number; readonly receivedMs: number }): void {
    const dateMs = Date.parse(dateHeader ?? "");
    if (Number.isNaN(dateMs)) return;
    const [low, high] = [dateMs - options.receivedMs, dateMs + 1_000 - options.sentMs];
    const [bothLow, bothHigh] = [Math.max(low, this.#lowMs), Math.min(high, this.#highMs)];
    [this.#lowMs, this.#highMs] = bothLow <= bothHigh ? [bothLow, bothHigh] : [low, high];
  }

  /** How far the server is ahead of our wall clock as it is now (ms), the middle of what is possible; 0 until an answer. */
  offsetMs(): number {
    if (!Number.isFinite(this.#lowMs)) return 0;
    const serverMs = this.#clock.monotonicMs() + (this.#lowMs + this.#highMs) / 2;
    return Math.round(serverMs - this.#clock.nowMs());
  }
}
