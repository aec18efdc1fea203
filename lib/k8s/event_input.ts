// An event as a controller records it, and the parts of a core/v1 Event that it determines.
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
  /** A name from lib/names.ts: users' automation keys on it. */
  readonly reason: string;
  /** Cut to 1024 bytes of UTF-8, the limit of events.k8s.io/v1. */
  readonly message: string;
  /** An event replaces the last in its object's slot, even another process's. No slot: each message is an event. */
  readonly slot?: number;
  /** Reports a short-lived state. Omitted while many events wait. */
  readonly isShortLived?: boolean;
}

/** An event with its queue key. Events with the same key replace each other. */
export interface QueuedEvent {
  readonly key: string;
  readonly input: EventInput;
}

const MAX_MESSAGE_BYTES = 1_024;

/** The event with a cut message. Its key is the slot, or else type, reason and message. */
export function queuedEventOf(input: EventInput): QueuedEvent {
  const { kind, namespace = "", name, uid = "" } = input.object;
  const message = truncate(input.message);
  const what = input.slot ?? [input.type, input.reason, message];
  const key = JSON.stringify([kind, namespace, name, uid, what]);
  return { key, input: { ...input, message } };
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

function truncate(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.byteLength <= MAX_MESSAGE_BYTES) return message;
  // Streaming drops a character that was cut in two.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 3), { stream: true })}…`;
}
