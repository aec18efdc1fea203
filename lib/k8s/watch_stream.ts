// Decodes the body of a watch: one JSON event per line. A cut line is not an event.
import { setImmediate } from "node:timers";
import type { RawWatchEvent } from "./api.ts";
import { NoAnswer, watchEventError } from "./response_errors.ts";
import { ApiError } from "./api_error.ts";
import { isObject, parseObject, textAt } from "../json.ts";
import { readAhead } from "./read_ahead.ts";
import type { KubeObject } from "./types.ts";

/** Far longer than any etcd object (1.5 MiB) as JSON: a longer line is not a watch event. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Longest decoding without yielding to the event loop (ms), so that webhook answers do not wait for a burst. */
const TURN_MS = 8;

const NEWLINE = 10;

/** Throws ApiError for an `ERROR` event and for an invalid line. Ignores an incomplete last line. */
export async function* decodeWatchStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<RawWatchEvent, void> {
  const lines = new LineSplitter();
  let turnEndsMs = performance.now() + TURN_MS;
  for await (const chunk of readAhead(body, { signal: options.signal })) {
    for (const line of lines.push(chunk)) {
      const event = parseEvent(line);
      if (event !== undefined) yield event;
    }
    if (performance.now() < turnEndsMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    turnEndsMs = performance.now() + TURN_MS;
  }
}

class LineSplitter {
  readonly #decoder = new TextDecoder();
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #partBytes = 0;

  *push(chunk: Uint8Array<ArrayBuffer>): Generator<string, void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.byteLength) this.#hold(chunk.subarray(start));
  }

  #hold(part: Uint8Array<ArrayBuffer>): void {
    this.#parts.push(part);
    this.#partBytes += part.byteLength;
    if (this.#partBytes > MAX_LINE_BYTES) throw notAnEvent(`a line has more than ${MAX_LINE_BYTES} bytes`);
  }

  #finish(last: Uint8Array<ArrayBuffer>): string {
    if (this.#parts.length === 0) return this.#decoder.decode(last);
    const whole = new Uint8Array(this.#partBytes + last.byteLength);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.byteLength;
    }
    whole.set(last, at);
    this.#parts = [];
    this.#partBytes = 0;
    return this.#decoder.decode(whole);
  }
}

function parseEvent(line: string): RawWatchEvent | undefined {
  if (line.trim() === "") return undefined;
  const event = parseObject(line);
  if (event === undefined) throw notAnEvent("a line is not a JSON object");
  const { type, object } = event;
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return { type, object: withMetadata(object) };
    case "ERROR":
      throw watchEventError(object);
    default:
      return undefined;
  }
}

/** A bookmark's object has a resourceVersion but no name. */
function withMetadata(object: unknown): KubeObject {
  if (!isObject(object) || !isObject(object["metadata"])) throw notAnEvent("an event has no object");
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, name: textAt(metadata, "name") } };
}

function notAnEvent(what: string): ApiError {
  return new ApiError(`Cannot read the watch stream: ${what}.`, { status: 0, reason: NoAnswer.interrupted });
}
