// Plain HTTP without a proxy, whatever the environment says: `fetch` heeds the variables of the environment, and a Service of
// the cluster is never behind a proxy. Looks like fetch.
import { type IncomingMessage, request as httpRequest } from "node:http";

/** What to send. */
export interface DirectRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Statuses without a body by definition. */
const EMPTY: readonly number[] = [204, 205, 304];

/** Like fetch with `redirect: "manual"`, over a connection of its own. */
export function fetchDirect(url: URL, { method, headers, body, signal }: DirectRequest): Promise<Response> {
  // Asked for and given as it is: node:http does not decode.
  headers.set("accept-encoding", "identity");
  const options = { method, headers: Object.fromEntries(headers), signal, agent: false };
  return new Promise((resolve, reject) => {
    const sending = httpRequest(url, options, (message) => {
      // Thrown from here it would end the process: a server may send what the constructor of Response refuses.
      try {
        resolve(toResponse(message));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    let fault: unknown = new Error("connection closed before an answer");
    sending.on("error", (error) => {
      fault = error;
    });
    // Only then is everything of this request gone; after an answer it means nothing.
    sending.on("close", () => reject(signal.aborted ? signal.reason : fault));
    sending.end(body);
  });
}

function toResponse(message: IncomingMessage): Response {
  const status = message.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  if (EMPTY.includes(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  return new Response(toStream(message), { status, headers });
}

function toStream(message: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  return new ReadableStream({
    start: (controller) => {
      const end = (act: () => void): void => {
        if (!isOver) act();
        isOver = true;
      };
      message.on("data", (chunk: Uint8Array) => {
        if (isOver) return;
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 1) <= 0) message.pause();
      });
      message.on("end", () => end(() => controller.close()));
      message.on("error", (error) => end(() => controller.error(error)));
      message.on("close", () => end(() => controller.error(new Error("connection closed before the end of the body"))));
    },
    pull: () => void message.resume(),
    cancel: () => {
      isOver = true;
      message.destroy();
    },
  });
}
