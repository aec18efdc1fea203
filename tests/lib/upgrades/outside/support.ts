// Servers and clocks for tests of what upgrades ask beside the API server.
import { type Clock, systemClock } from "../../../../lib/clock.ts";
import { type Handler, type Listener, listenPlain } from "../../../../playground/listen.ts";
import {
  fixedEndpoint,
  Upstream,
  type UpstreamLimits,
  type UpstreamOptions,
} from "../../../../lib/upgrades/outside/http/upstream.ts";
import type { Notification } from "../../../../lib/upgrades/decide/types/effects.ts";
import type { NotificationState } from "../../../../lib/upgrades/decide/types/plan.ts";
import { Relays } from "../../../support/relays.ts";

export const SIGNAL: AbortSignal = new AbortController().signal;

export function noticeOf(
  state: NotificationState,
  description = "Something happened.",
  version = "4.16.3",
): Notification {
  return { id: `uid-1/${version}//${state}`, state, version, upgradeAt: "2026-03-20T00:00:00Z", description };
}

/** Roomy limits without retries. */
export const LIMITS: UpstreamLimits = { timeoutMs: 30_000, maxBytes: 64 * 1024 };

/** Time limits hold: less than half a second, or whole seconds of more than five. Pauses are noted and left out. */
export function hastyClock(pauses: number[] = []): Clock {
  return {
    ...systemClock,
    sleep: (ms, signal) => {
      if (ms < 500 || (ms > 5_000 && ms % 1_000 === 0)) return systemClock.sleep(ms, signal);
      pauses.push(ms);
      return Promise.resolve();
    },
  };
}

export function openUpstream(baseUrl: string, options: Partial<UpstreamOptions> = {}): Upstream {
  const source = fixedEndpoint({ baseUrl, caCerts: [], authorization: "Bearer s3cret-token" });
  const usual = { server: "Prometheus", limits: LIMITS, userAgent: "archway-test", clock: systemClock };
  return new Upstream({ ...usual, source, ...options });
}

/** What a broken server does with a connection once it has read the request. */
export const FAULTS: Readonly<Record<string, Handler | string | null>> = {
  "answers 500": () => new Response("s3cret-token", { status: 500 }),
  "answers 503": () => new Response(null, { status: 503 }),
  "answers 429": () => new Response(null, { status: 429 }),
  "cuts the connection": "",
  "talks garbage": "\u0000\u0001no HTTP at all\r\n\r\n",
  "breaks off its body": "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n[",
  "never answers": null,
  "answers with no JSON": () => new Response("<html>s3cret-token</html>"),
  "answers with another shape": () => Response.json({ kind: "Status", items: 7 }),
  "answers with a huge body": () => new Response(new Uint8Array(1024 * 1024)),
  "redirects elsewhere": () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/x" } }),
};

export function openFaulty(fault: Handler | string | null): Listener {
  if (typeof fault === "function") return listenPlain(fault);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const relays = new Relays(listener, async (client) => {
    const buffer = new Uint8Array(8_192);
    await client.read(buffer);
    if (fault !== null) await client.write(new TextEncoder().encode(fault));
    // Until the client leaves.
    else while (await client.read(buffer) !== null);
  });
  const host = `127.0.0.1:${listener.addr.port}`;
  return { host, origin: `http://${host}`, [Symbol.asyncDispose]: () => relays[Symbol.asyncDispose]() };
}
