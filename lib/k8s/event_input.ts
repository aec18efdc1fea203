// An event as it is recorded and as the API server takes it: its key, its urgency, its words.
import type { CoreV1Event } from "@kubernetes/client-node";
import type { EventType, QueuedEvent, Urgency } from "./event_queue.ts";
import type { Wire } from "./wire.ts";

/** An event to tell. */
export interface EventInput {
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
  };
  readonly type: EventType;
  /** One of the names of lib/names.ts: users' automation keys on it. */
  readonly reason: string;
  /** Cut to 1024 bytes of UTF-8, as the API server demands. */
  readonly message: string;
  /**
   * A place among the events of the object: a note takes the place of the one before it, also of one that another
   * process wrote. So an object never has more events than it has slots. Without a slot, another message is another event.
   */
  readonly slot?: number;
  /** Dropped last, and tried for minutes. */
  readonly critical?: boolean;
}

const MAX_MESSAGE_BYTES = 1_024;

/** The note as it waits: its message cut, its key that of its slot, or of its words where it has none. */
export function laneEventOf(note: EventInput): QueuedEvent<EventInput> {
  const { kind, namespace = "", name, uid = "" } = note.object;
  const message = truncate(note.message);
  const what = note.slot ?? [note.type, note.reason, message];
  const key = JSON.stringify([kind, namespace, name, uid, what]);
  return { key, note: { ...note, message }, reason: note.reason, urgency: urgencyOf(note) };
}

/** The members of an event that a repetition changes. */
export type EventUpdate = Pick<
  Wire<CoreV1Event>,
  "type" | "reason" | "message" | "count" | "firstTimestamp" | "lastTimestamp"
>;

/** The part of an event that changes from one time to the next; times in epoch ms. */
export function renderUpdate(
  { type, reason, message }: EventInput,
  { count, firstMs, lastMs }: { readonly count: number; readonly firstMs: number; readonly lastMs: number },
): EventUpdate {
  return { type, reason, message, count, firstTimestamp: timestamp(firstMs), lastTimestamp: timestamp(lastMs) };
}

function urgencyOf({ type, critical }: EventInput): Urgency {
  if (critical === true) return 0;
  return type === "Warning" ? 1 : 2;
}

/** Seconds precision: metav1.Time has no fractions. */
function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");
}

function truncate(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.byteLength <= MAX_MESSAGE_BYTES) return message;
  // Streaming keeps back a character that was cut in two.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 3), { stream: true })}…`;
}
