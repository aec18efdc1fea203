// Which of a pod's three event slots an event takes, replacing the slot's last event. The outcome is written last.
import { EventReason } from "../../../names.ts";
import { clip } from "../failures.ts";

/** The longest message in the events API, in characters. */
const MAX_MESSAGE_LENGTH = 1024;

export interface PodEvent {
  readonly type: "Normal" | "Warning";
  /** One of `EventReason`. */
  readonly reason: string;
  /** One or two sentences, at most {@link MAX_MESSAGE_LENGTH} characters. */
  readonly message: string;
  /** Says only that a gate was added or removed. */
  readonly isShortLived?: boolean;
}

export function normal(reason: string, message: string): PodEvent {
  return { type: "Normal", reason, message: clip(message, MAX_MESSAGE_LENGTH) };
}

export function warning(reason: string, message: string): PodEvent {
  return { type: "Warning", reason, message: clip(message, MAX_MESSAGE_LENGTH) };
}

/** A pod's slots for placement events. Each holds one event, so there are at most three. */
type EventSlot = 1 | 2 | 3;

export interface SlottedEvent extends PodEvent {
  readonly slot: EventSlot;
}

/**
 * | slot | while the pod waits  | at the end                                                                  |
 * |------|----------------------|-----------------------------------------------------------------------------|
 * | 1    | the gate was added   | stays, unless the removal of the gate finds no other slot                   |
 * | 2    | an inspection failed | failures and conflicts; else the removal                                    |
 * | 3    | the gate is stuck    | where the pod may run; else the removal                                     |
 */
const SLOTS: ReadonlyMap<string, EventSlot> = new Map([
  [EventReason.gateAdded, 1],
  [EventReason.inspectionError, 2],
  [EventReason.predicatesConflict, 2],
  [EventReason.preferredDuplicates, 2],
  [EventReason.noSupportedArchitectures, 2],
  [EventReason.gatedPodIgnored, 2],
  [EventReason.predicateSet, 3],
  [EventReason.fallbackSet, 3],
  [EventReason.gateRemovalFailed, 3],
]);

/** Alternatives when an event's own slot is taken. By then, "gate added" is the least useful event. */
const SPARE: readonly EventSlot[] = [2, 3, 1];

/** Expects the most important event first; drops what finds no slot. `hasFailedBefore`: slot 2 is for warnings. */
export function assignSlots(
  events: readonly PodEvent[],
  { hasFailedBefore }: { readonly hasFailedBefore: boolean },
): readonly SlottedEvent[] {
  const taken = new Set<EventSlot>();
  return events.flatMap((event) => {
    const isFree = (slot: EventSlot): boolean =>
      !taken.has(slot) && !(slot === 2 && hasFailedBefore && event.type === "Normal");
    const own = SLOTS.get(event.reason);
    const slot = own !== undefined && isFree(own) ? own : SPARE.find(isFree);
    if (slot === undefined) return [];
    taken.add(slot);
    return [{ ...event, slot }];
  });
}
