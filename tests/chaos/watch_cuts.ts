// Interceptors of the API proxy: watches cut at a chosen kind of byte, forged 410s, hooks around the release patch, a count
// of answers. Pure but for what they count.
import type { ApiInterceptor, RequestHead } from "../cluster/support/api_proxy.ts";
import { statusBody } from "../support/api_server.ts";

/** One that says how often it has done its part. */
export type CountingInterceptor = ApiInterceptor & { count(): number };

export type CutPlace = "in a line" | "between lines" | "in a character" | "in a chunk header";

/** How many of the bytes pass before the cut; undefined when they hold no such place. */
export function cutAt(bytes: Uint8Array<ArrayBuffer>, place: CutPlace): number | undefined {
  const isChunk = /^[0-9a-f]+\r\n\{/.test(new TextDecoder("latin1").decode(bytes.subarray(0, 16)));
  if (!isChunk) return undefined;
  switch (place) {
    case "in a line":
      return bytes.length >> 1;
    case "between lines":
      return bytes.length;
    case "in a character": {
      const at = bytes.findIndex((byte) => byte >= 0xc2);
      return at < 0 ? undefined : at + 1;
    }
    case "in a chunk header":
      return 1;
  }
}

function isPodWatch({ method, target }: RequestHead): boolean {
  return method === "GET" && target.startsWith("/api/v1/pods?") && /[?&]watch=(?:true|1)\b/.test(target);
}

/** Cuts watches of pods at such a place, so many times. */
export function cutWatches(place: CutPlace, times: number): CountingInterceptor {
  let cuts = 0;
  return {
    count: () => cuts,
    onAnswer: (head, bytes) => {
      const at = cuts < times && isPodWatch(head) ? cutAt(bytes, place) : undefined;
      if (at === undefined) return { passBytes: bytes.length, cut: false };
      cuts++;
      return { passBytes: at, cut: true };
    },
  };
}

const EXPIRED = JSON.stringify(statusBody(410, "Expired"));

function forge(statusLine: string, body: string): Uint8Array<ArrayBuffer> {
  const head = `HTTP/1.1 ${statusLine}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return new TextEncoder().encode(`${head}Connection: close\r\n\r\n${body}`);
}

/** Cuts the watch of pods once and then says, `times` times, that its resourceVersion is too old. */
export function expireWatches(form: "status" | "event", times: number): CountingInterceptor {
  const cutting = cutWatches("between lines", 1);
  const forgery = form === "status"
    ? forge("410 Gone", EXPIRED)
    : forge("200 OK", `{"type":"ERROR","object":${EXPIRED}}\n`);
  let forged = 0;
  return {
    count: () => forged,
    onRequest: (head) => {
      if (cutting.count() === 0 || forged >= times || !isPodWatch(head)) return "pass";
      forged++;
      return { forged: forgery };
    },
    ...(cutting.onAnswer === undefined ? {} : { onAnswer: cutting.onAnswer }),
  };
}

/** A moment in the release of a pod, as the API server sees it. */
export type ReleaseMoment = "before the patch" | "patch in flight" | "before the events";

export function atRelease(moment: ReleaseMoment, then: () => void): ApiInterceptor & { hasFired(): boolean } {
  let [hasFired, hasPatched] = [false, false];
  const fire = (): void => {
    hasFired = true;
    then();
  };
  const isRelease = ({ method, target }: RequestHead): boolean =>
    method === "PATCH" && /^\/api\/v1\/namespaces\/[^/]+\/pods\//.test(target);
  const isEvent = ({ method, target }: RequestHead): boolean => method === "POST" && /\/events(?:\?|$)/.test(target);
  return {
    hasFired: () => hasFired,
    onRequest: (head) => {
      const isMoment = moment === "before the patch" ? isRelease(head) : isEvent(head) && hasPatched;
      if (hasFired || moment === "patch in flight" || !isMoment) return "pass";
      fire();
      return "cut";
    },
    onAnswer: (head, bytes) => {
      if (!isRelease(head)) return { passBytes: bytes.length, cut: false };
      hasPatched = true;
      if (hasFired || moment !== "patch in flight") return { passBytes: bytes.length, cut: false };
      fire();
      return { passBytes: 0, cut: true };
    },
  };
}

export function countAnswers(status: number): CountingInterceptor {
  const beginning = new TextEncoder().encode(`HTTP/1.1 ${status} `);
  let count = 0;
  return {
    count: () => count,
    onAnswer: (_, bytes) => {
      if (beginning.every((byte, at) => bytes[at] === byte)) count++;
      return { passBytes: bytes.length, cut: false };
    },
  };
}
