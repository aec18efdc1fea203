// Sends one event to the API server: creates it, or patches the one that was sent before, whose count and words it updates.
import type { CoreV1Event } from "@kubernetes/client-node";
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { KubeApi } from "./api.ts";
import { isConflict, isNotFound } from "./errors.ts";
import { type EventInput, renderUpdate } from "./event_input.ts";
import type { WaitingEvent } from "./event_queue.ts";
import { Resource, type Wire } from "./types.ts";

export interface EventSinkOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly component: string;
  readonly instance: string;
}

/** Namespace of events about cluster-scoped objects: the API server accepts no other for them. */
const CLUSTER_SCOPED_NAMESPACE = "default";
/** An event without a slot that occurs again within this time is counted on the one that was sent. */
const REPEAT_WINDOW_MS = 10 * 60_000;
const MAX_SENT_EVENTS = 4_096;

/** An event on the API server, as this process last wrote it. `atMs`: when (monotonic ms). */
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
  #lastName = 0;

  constructor(options: EventSinkOptions) {
    this.#options = options;
  }

  /** The name to create an event by. All attempts use the same, so that a create that did arrive is not repeated. */
  nameFor({ object, slot }: EventInput): string {
    const stem = object.name.slice(0, 200).replace(/(?<![^a-z0-9])[^a-z0-9]+$/, "");
    if (slot !== undefined && object.uid !== undefined) return `${stem}.${object.uid}.${slot}`;
    this.#lastName = Math.max(this.#lastName + 1, this.#options.clock.nowMs() * 1_000);
    return `${stem}.${this.#lastName.toString(16)}${crypto.getRandomValues(new Uint8Array(2)).toHex()}`;
  }

  async send(event: WaitingEvent, name: string, signal: AbortSignal): Promise<void> {
    const sent = this.#sent.get(event.key);
    const isRecent = sent !== undefined &&
      (event.input.slot !== undefined || this.#options.clock.monotonicMs() - sent.atMs < REPEAT_WINDOW_MS);
    if (isRecent && await this.#update(sent, event, signal)) return;
    await this.#create(event, name, signal);
  }

  /** Another reason replaces the event, the same one counts up; false when the event is gone. */
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
    try {
      await this.#patch(sent, event, signal);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
    this.#sent.set(event.key, sent);
    return true;
  }

  async #patch(sent: SentEvent, event: WaitingEvent, signal: AbortSignal): Promise<void> {
    const document = renderUpdate(event.input, { ...sent, lastMs: event.lastMs });
    const { namespace, name } = sent;
    await this.#options.api.patch(Resource.events, { namespace, name }, { body: { kind: "merge", document }, signal });
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
    try {
      await api.create(Resource.events, document, { namespace, signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The slot was filled by another process. Any other name is unique: an earlier attempt has arrived after all.
      if (slot !== undefined) await this.#patch(sent, event, signal);
    }
    this.#sent.set(event.key, sent);
  }
}
