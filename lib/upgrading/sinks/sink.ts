// Where notifications go.
import type { Notification } from "../../upgrades/types/effects.ts";

/** A place that notifications go to. */
export interface NotificationSink {
  /** For messages: `event`, `webhook`. */
  readonly name: string;
  /**
   * Resolves when the place has it, or has no use for it. Sent the same id a second time it does nothing, as far as the place
   * allows. Rejects when it has not; the message is safe to show.
   */
  send(notification: Notification, signal: AbortSignal): Promise<void>;
}
