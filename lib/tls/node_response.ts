// Gives the answer to a request of node:http or node:https as `fetch` would, for connections that `fetch` cannot make.
import type { ClientRequest, IncomingMessage } from "node:http";

const EMPTY: readonly number[] = [204, 205, 304];

/** The answer as soon as its headers have come. Rejects with node's error when none comes. A redirect is an answer. */
export function nodeResponse(
  method: string,
  open: (onAnswer: (message: IncomingMessage) => void) => ClientRequest,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sending = open((message) => {
      // The constructor of Response may refuse what a server sends. An error thrown from here would end the process.
      try {
        resolve(toResponse(message, method));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    let fault: unknown = new Error("connection closed before an answer");
    sending.on("error", (error) => {
      fault = error;
    });
    // The request has ended. After an answer this has no effect.
    sending.on("close", () => reject(fault));
  });
}

function toResponse(message: IncomingMessage, method: string): Response {
  const status = message.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  if (method === "HEAD" || EMPTY.includes(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  const isGzip = headers.get("content-encoding")?.toLowerCase() === "gzip";
  const bytes = toStream(message);
  return new Response(isGzip ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes, { status, headers });
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
      // A connection that is cut in the middle may emit only this event.
      message.on("close", () => end(() => controller.error(new Error("connection closed before the end of the body"))));
    },
    pull: () => void message.resume(),
    cancel: () => {
      isOver = true;
      message.destroy();
    },
  });
}
