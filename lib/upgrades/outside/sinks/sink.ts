// Sinks of notifications: events, a webhook, the log. An ID marks repeats: as the event's name, or `Idempotency-Key`.
import type { Notification } from "../../decide/types/effects.ts";
import { errorText, type Logger } from "../../../log.ts";
import type { Clock } from "../../../clock.ts";
import { fixedEndpoint, Upstream, type UpstreamLimits } from "../http/upstream.ts";
import { createHash } from "node:crypto";
import type { CoreV1Event } from "@kubernetes/client-node";
import { ignoring, type KubeApi } from "../../../k8s/api.ts";
import { isConflict } from "../../../k8s/api_error.ts";
import { type EventObject, queuedEventOf, renderUpdate } from "../../../k8s/event_input.ts";
import { Resource, type Wire } from "../../../k8s/types.ts";
import { Upgrades } from "../../names.ts";
import type { UpgradeFacts } from "../../decide/types/observed.ts";
import type { NotificationState } from "../../decide/types/plan.ts";
import { LRUCache } from "lru-cache";

export interface NotificationSink {
  /** For messages, and the record of deliveries: `event`, `webhook`. */
  readonly name: string;
  /**
   * Resolves once the sink has the notification or does not need it. A repeated ID does nothing where the sink can
   * tell. Rejects with a safe message.
   */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
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

interface WebhookSinkOptions {
  /** May be secret, as those of chat services are: messages name its host alone. */
  readonly url: string;
  readonly caCerts: readonly string[];
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly userAgent: string;
  readonly clock: Clock;
}

const LIMITS: UpstreamLimits = { timeoutMs: 10_000, maxBytes: 64 * 1024 };

export function openWebhookSink({ url, caCerts, clusterId, userAgent, clock }: WebhookSinkOptions): NotificationSink {
  return {
    name: "webhook",
    send: async ({ id, state, version, upgradeAt, description }, signal) => {
      const body = { id, state, version, upgradeAt, description, clusterId: await clusterId(signal) };
      const source = fixedEndpoint({ baseUrl: url, caCerts });
      const options = { server: "the webhook", source, limits: LIMITS, userAgent, clock };
      using upstream = new Upstream({ ...options, hidesPath: true });
      const headers = { "idempotency-key": id };
      await upstream.send({ method: "POST", path: "", body, headers }, signal);
    },
  };
}

const WARNINGS: readonly NotificationState[] = [
  "StateDelayed",
  "StateFailed",
  "StateScaleSkipped",
  "StateSkipped",
  "StateHealthCheckSL",
  "StatePreHealthCheckSL",
  "StateMigrationStuck",
];

/** The event's reason is the state without `State` and `SL`: `ControlPlaneStarted` for `StateControlPlaneStartedSL`. */
export function openEventSink(
  { api, subject: object, clock }: {
    readonly api: Pick<KubeApi, "create">;
    readonly subject: EventObject & { readonly namespace: string };
    readonly clock: Pick<Clock, "nowMs">;
  },
): NotificationSink {
  return {
    name: "event",
    send: async ({ id, state, description }, signal) => {
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
      await ignoring(isConflict, api.create(Resource.events, event, { namespace: object.namespace, signal }));
    },
  };
}

interface NotifierDeps {
  readonly sinks: (options: SendOptions) => Promise<readonly NotificationSink[]>;
  readonly observe: (notification: Notification, result: "sent" | "failed") => void;
}

export interface DeliveryRecord {
  sinksOf(id: string): readonly string[];
  /** Replaces the sinks of a notification. Rejects when that cannot be written. One call at a time. */
  write(id: string, sinks: readonly string[]): Promise<void>;
}

export interface SendOptions extends Pick<UpgradeFacts, "plan" | "config"> {
  readonly record: DeliveryRecord;
  readonly signal: AbortSignal;
}

/** Notifications whose sinks memory holds too, in case the record cannot be written. An upgrade has about ten. */
const MAX_NOTIFICATIONS = 100;

export type Notify = (notification: Notification, options: SendOptions) => Promise<void>;

/** Sends a notification to every sink that does not have it yet. Rejects when a sink fails. */
export function openNotifier({ sinks, observe }: NotifierDeps): Notify {
  const sent = new LRUCache<string, Set<string>>({ max: MAX_NOTIFICATIONS });
  return async (notification, options) => {
    const { record, signal } = options;
    const { id, state } = notification;
    const delivered = new Set([...record.sinksOf(id), ...sent.get(id) ?? []]);
    sent.set(id, delivered);
    const failures: string[] = [];
    const attempt = async (what: string, act: () => Promise<void>): Promise<void> => {
      await act().catch((error: unknown) => void failures.push(what + errorText(error)));
    };
    await attempt("", async () => {
      const due = (await sinks(options)).filter(({ name }) => !delivered.has(name));
      await Promise.all(
        due.map((sink) =>
          attempt(`${sink.name}: `, async () => {
            await sink.send(notification, signal);
            delivered.add(sink.name);
          })
        ),
      );
    });
    signal.throwIfAborted();
    const isRecorded = delivered.size === record.sinksOf(id).length;
    if (failures.length > 0 && !isRecorded) await attempt("", () => record.write(id, [...delivered]));
    observe(notification, failures.length === 0 ? "sent" : "failed");
    if (failures.length > 0) throw new Error(`Cannot send notification ${state}: ${failures.join("; ")}`);
  };
}
