// Sends one event to the API server: creates it, or updates count and message of the event sent before.
import type { CoreV1Event } from "@kubernetes/client-node";
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { ignoring, type KubeApi } from "./api.ts";
import { isConflict, isNotFound } from "./api_error.ts";
import { type EventInput, renderUpdate } from "./event_input.ts";
import type { WaitingEvent } from "./event_queue.ts";
import { type KubeObject, Resource, type Wire } from "./types.ts";

export interface EventSinkOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly component: string;
  readonly instance: string;
}

/** The only namespace that the API server accepts for events about cluster-scoped objects. */
const CLUSTER_SCOPED_NAMESPACE = "default";
/** Without a slot, a repeat within this time (ms) increments the sent event. */
const REPEAT_WINDOW_MS = 10 * 60_000;
const MAX_SENT_EVENTS = 4_096;

/** An event as last written by this process. `atMs`: when (monotonic ms). */
interface SentEvent {
  readonly name: string;
  readonly namespace: string;
  readonly reason: string;
  readonly count: number;
  readonly firstMs: number;
  readonly atMs: number;
}

export class EventSink {
  readonly #options: EventSinkOptions;
  readonly #sent = new LRUCache<string, SentEvent>({ max: MAX_SENT_EVENTS });

  constructor(options: EventSinkOptions) {
    this.#options = options;
  }

  /** The name of a new event. All attempts share it, so that a create that arrived is not repeated. */
  nameFor({ object, slot }: EventInput): string {
    const stem = object.name.slice(0, 200).replace(/(?<![^a-z0-9])[^a-z0-9]+$/, "");
    if (slot !== undefined && object.uid !== undefined) return `${stem}.${object.uid}.${slot}`;
    return `${stem}.${this.#options.clock.nowMs().toString(16)}${crypto.getRandomValues(new Uint8Array(4)).toHex()}`;
  }

  async send(event: WaitingEvent, name: string, signal: AbortSignal): Promise<void> {
    const sent = this.#sent.get(event.key);
    const isRecent = sent !== undefined &&
      (event.input.slot !== undefined || this.#options.clock.monotonicMs() - sent.atMs < REPEAT_WINDOW_MS);
    if (isRecent && await this.#update(sent, event, signal)) return;
    await this.#create(event, name, signal);
  }

  /** A new reason replaces the event; the same reason increments it. False when the event is gone. */
  async #update(before: SentEvent, event: WaitingEvent, signal: AbortSignal): Promise<boolean> {
    const { reason } = event.input;
    const repeats = before.reason === reason;
    const sent: SentEvent = {
      ...before,
      reason,
      count: repeats ? before.count + event.count : event.count,
      firstMs: repeats ? before.firstMs : event.firstMs,
      atMs: this.#options.clock.monotonicMs(),
    };
    if (await ignoring(isNotFound, this.#patch(sent, event, signal)) === undefined) return false;
    this.#sent.set(event.key, sent);
    return true;
  }

  #patch(sent: SentEvent, event: WaitingEvent, signal: AbortSignal): Promise<KubeObject> {
    const document = renderUpdate(event.input, { ...sent, lastMs: event.lastMs });
    const { namespace, name } = sent;
    return this.#options.api.patch(Resource.events, { namespace, name }, { body: { kind: "merge", document }, signal });
  }

  async #create(event: WaitingEvent, name: string, signal: AbortSignal): Promise<void> {
    const { api, clock, component, instance } = this.#options;
    const { object, reason, slot } = event.input;
    const { count, firstMs } = event;
    const namespace = object.namespace ?? CLUSTER_SCOPED_NAMESPACE;
    const sent: SentEvent = { name, namespace, reason, count, firstMs, atMs: clock.monotonicMs() };
    const document = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: object,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      ...renderUpdate(event.input, { ...sent, lastMs: event.lastMs }),
    } satisfies Wire<CoreV1Event>;
    const created = await ignoring(isConflict, api.create(Resource.events, document, { namespace, signal }));
    // With a slot, another process created the event. Other names are unique: an earlier attempt has arrived.
    if (created === undefined && slot !== undefined) await this.#patch(sent, event, signal);
    this.#sent.set(event.key, sent);
  }
}
