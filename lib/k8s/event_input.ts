// An event as a controller records it, and the parts of a core/v1 Event that follow from it.
import type { CoreV1Event } from "@kubernetes/client-node";
import { renderTime } from "../vocabulary/time.ts";
import { apiVersionOf, type ResourceType, type Wire } from "./types.ts";

type EventType = "Normal" | "Warning";

interface EventTarget {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface EventObject extends EventTarget {
  readonly apiVersion: string;
  readonly kind: string;
}

export function eventObjectOf<T extends EventTarget>(type: ResourceType, target: T): EventObject & T {
  return { apiVersion: apiVersionOf(type), kind: type.kind, ...target };
}

export interface EventInput {
  readonly object: EventObject;
  readonly type: EventType;
  /** One of the names of lib/names.ts: users' automation keys on it. */
  readonly reason: string;
  /** Cut to 1024 bytes of UTF-8, the most that events.k8s.io/v1 takes. */
  readonly message: string;
  /** A later event of a slot replaces the earlier one, even another process's. Without a slot each message is an event. */
  readonly slot?: number;
  readonly critical?: boolean;
  /** Reports a short-lived state: left out while many events wait. */
  readonly passing?: boolean;
}

/** The order in which events are sent, and the reverse of the order in which they are dropped: 0 critical, 1 Warning, 2 Normal. */
export type Urgency = 0 | 1 | 2;

/** An event with its place in the queue. Events of the same key replace each other. */
export interface QueuedEvent {
  readonly key: string;
  readonly input: EventInput;
  readonly urgency: Urgency;
}

const MAX_MESSAGE_BYTES = 1_024;

/** The event with its message cut; its key is that of its slot, or of type, reason and message where it has none. */
export function queuedEventOf(input: EventInput): QueuedEvent {
  const { kind, namespace = "", name, uid = "" } = input.object;
  const message = truncate(input.message);
  const what = input.slot ?? [input.type, input.reason, message];
  const key = JSON.stringify([kind, namespace, name, uid, what]);
  return { key, input: { ...input, message }, urgency: urgencyOf(input) };
}

type EventUpdate = Pick<
  Wire<CoreV1Event>,
  "type" | "reason" | "message" | "count" | "firstTimestamp" | "lastTimestamp"
>;

export function renderUpdate(
  { type, reason, message }: EventInput,
  { count, firstMs, lastMs }: { readonly count: number; readonly firstMs: number; readonly lastMs: number },
): EventUpdate {
  return { type, reason, message, count, firstTimestamp: renderTime(firstMs), lastTimestamp: renderTime(lastMs) };
}

function urgencyOf({ type, critical }: EventInput): Urgency {
  if (critical === true) return 0;
  return type === "Warning" ? 1 : 2;
}

function truncate(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.byteLength <= MAX_MESSAGE_BYTES) return message;
  // Streaming keeps back a character that was cut in two.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 3), { stream: true })}…`;
}
