// Notifications as JSON to an address that people configure. The id is also the header `Idempotency-Key`, by which the receiver
// recognises what it has: after a lost answer it is sent again.
import type { Clock } from "../../../clock.ts";
import { fixedEndpoint, Upstream, type UpstreamLimits } from "../http/upstream.ts";
import type { NotificationSink } from "./sink.ts";

export interface WebhookSinkOptions {
  /** May be secret, as those of chat services are: messages name its host alone. */
  readonly url: string;
  readonly caCerts: readonly string[];
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly userAgent: string;
  readonly clock: Clock;
}

const LIMITS: UpstreamLimits = { timeoutMs: 10_000, maxBytes: 64 * 1024, tries: 2 };

export function openWebhookSink({ url, caCerts, clusterId, userAgent, clock }: WebhookSinkOptions): NotificationSink {
  return {
    name: "webhook",
    send: async ({ id, state, version, upgradeAt, description }, { signal }) => {
      const body = { id, state, version, upgradeAt, description, clusterId: await clusterId(signal) };
      const source = fixedEndpoint({ baseUrl: url, caCerts });
      const options = { server: "the webhook", source, limits: LIMITS, userAgent, clock };
      using upstream = new Upstream({ ...options, hidesPath: true });
      const headers = { "idempotency-key": id };
      await upstream.send({ method: "POST", path: "", body, headers, repeatable: true }, signal);
    },
  };
}
