// Where notifications go.
import type { Notification } from "../../upgrades/types/effects.ts";

/** A place that notifications go to. */
export interface NotificationSink {
  /** For messages, and the record of deliveries: `event`, `webhook`. */
  readonly name: string;
  /**
   * Resolves when the place has it, or has no use for it. Sent the same id a second time it does nothing, as far as the place
   * allows. Rejects when it has not; the message is safe to show.
   */
  send(notification: Notification, sending: Sending): Promise<void>;
}

/** What one sending goes with. */
export interface Sending {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
}

/** For a place that cannot say what it has: what is asked of it once is not asked again. */
export interface Attempt {
  /** Writes down that the place is about to be asked. Rejects when that cannot be written; then it must not be asked. */
  begin(): Promise<void>;
  /** It certainly does not have it: it is asked again the next time. */
  withdraw(): Promise<void>;
}
