// HTTPS without verifying the certificate, only for registries declared insecure: `fetch` cannot skip verification for one
// request, node:https can. Looks like fetch to transport.ts. HTTP proxies do not apply here.
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

/** Statuses whose answer has no body by definition. */
const EMPTY: readonly number[] = [204, 205, 304];

/** Like fetch with `redirect: "manual"`; rejects with what node:https says when no answer comes. */
export function fetchUnverified(
  url: URL,
  options: {
    readonly method: string;
    readonly headers: Headers;
    readonly body?: string;
    readonly signal: AbortSignal;
    /** Shown to the server, which may verify us although we do not verify it. */
    readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  },
): Promise<Response> {
  const { method, headers, body, signal, clientCertificate } = options;
  const own = clientCertificate === undefined
    ? {}
    : { cert: clientCertificate.certificate, key: clientCertificate.key };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      url,
      // No agent: a pooled connection would outlive the signal, and insecure registries are rare.
      { method, headers: Object.fromEntries(headers), rejectUnauthorized: false, signal, agent: false, ...own },
      (message) => {
        // Thrown from here it would end the process: an answer can be stranger than a Response may be.
        try {
          resolve(toResponse(message, method));
        } catch (error) {
          message.destroy();
          reject(error);
        }
      },
    );
    let fault: unknown = new Error("connection closed before an answer");
    request.on("error", (error) => {
      fault = error;
    });
    // Only then is everything of this request gone; after an answer it means nothing.
    request.on("close", () => reject(fault));
    request.end(body);
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
      // A connection cut in the middle may say nothing but this.
      message.on("close", () => end(() => controller.error(new Error("connection closed before the end of the body"))));
    },
    pull: () => void message.resume(),
    cancel: () => {
      isOver = true;
      message.destroy();
    },
  });
}
