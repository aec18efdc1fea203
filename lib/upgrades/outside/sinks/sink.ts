// Where notifications go: Kubernetes events of the UpgradeConfig, a webhook, the log. Each knows a notification again by its id: the
// name of an event follows from it, so that the API server refuses the second one; a webhook has it as `Idempotency-Key`.
import type { Notification } from "../../decide/types/effects.ts";
import type { Logger } from "../../../log.ts";
import type { Clock } from "../../../clock.ts";
import { fixedEndpoint, Upstream, type UpstreamLimits } from "../http/upstream.ts";
import { createHash } from "node:crypto";
import type { CoreV1Event } from "@kubernetes/client-node";
import type { KubeApi } from "../../../k8s/api.ts";
import { isConflict } from "../../../k8s/errors.ts";
import { type EventObject, queuedEventOf, renderUpdate } from "../../../k8s/event_input.ts";
import { Resource, type Wire } from "../../../k8s/types.ts";
import { Upgrades } from "../../names.ts";
import type { NotificationState } from "../../decide/types/plan.ts";

export interface NotificationSink {
  /** For messages, and the record of deliveries: `event`, `webhook`. */
  readonly name: string;
  /**
   * Resolves when the place has it, or has no use for it. Sent the same id a second time it does nothing, as far as the place
   * allows. Rejects when it has not; the message is safe to show.
   */
  send(notification: Notification, sending: Sending): Promise<void>;
}

export interface Sending {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
}

/** For a sink that cannot report what it has: a request to it is not repeated. */
export interface Attempt {
  /** Records that a request to the sink follows. Rejects when that cannot be written; then it must not be sent. */
  begin(): Promise<void>;
  /** It certainly does not have it: the request is sent again the next time. */
  withdraw(): Promise<void>;
}

export function openLogSink(log: Logger): NotificationSink {
  return {
    name: "log",
    send: ({ state, version, description }) => {
      log.info("upgrade notification", { state, version, description });
      return Promise.resolve();
    },
  };
}

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

/** States that an administrator should look at. */
const WARNINGS: readonly NotificationState[] = [
  "StateDelayed",
  "StateFailed",
  "StateScaleSkipped",
  "StateSkipped",
  "StateHealthCheckSL",
  "StatePreHealthCheckSL",
  "StateMigrationStuck",
];

/** Opens the sink. The reason of an event is the state without `State`: `ControlPlaneStartedSL` is `ControlPlaneStarted`. */
export function openEventSink(
  { api, subject: object, clock }: {
    readonly api: Pick<KubeApi, "create">;
    readonly subject: EventObject & { readonly namespace: string };
    readonly clock: Pick<Clock, "nowMs">;
  },
): NotificationSink {
  return {
    name: "event",
    send: async ({ id, state, description }, { signal }) => {
      const nowMs = clock.nowMs();
      const reason = state.replace(/^State/, "").replace(/SL$/, "");
      const type = WARNINGS.includes(state) ? "Warning" : "Normal";
      const { input } = queuedEventOf({ object, type, reason, message: description });
      const name = `${object.name}.${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
      const event = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: object.namespace },
        involvedObject: object,
        source: { component: Upgrades.eventSource },
        reportingComponent: Upgrades.eventSource,
        reportingInstance: "",
        ...renderUpdate(input, { count: 1, firstMs: nowMs, lastMs: nowMs }),
      } satisfies Wire<CoreV1Event>;
      try {
        await api.create(Resource.events, event, { namespace: object.namespace, signal });
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    },
  };
}
