// Notifications as JSON to an address that people configure. The id is also the header `Idempotency-Key`, by which the receiver
// knows what it has: after a lost answer it is sent again.
import type { Upstream } from "../http/upstream.ts";
import type { NotificationSink } from "./sink.ts";

/** Opens the sink; the base of the upstream is the whole address. */
export function openWebhookSink(
  { upstream, clusterId }: {
    readonly upstream: Upstream;
    readonly clusterId: (signal: AbortSignal) => Promise<string>;
  },
): NotificationSink {
  return {
    name: "webhook",
    send: async ({ id, state, version, upgradeAt, description }, signal) => {
      const body = { id, state, version, upgradeAt, description, clusterId: await clusterId(signal) };
      const headers = { "idempotency-key": id };
      await upstream.send({ method: "POST", path: "", body, headers, repeatable: true }, signal);
    },
  };
}
