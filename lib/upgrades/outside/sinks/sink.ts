// Where notifications go.
import type { Notification } from "../../decide/types/effects.ts";
import type { Logger } from "../../../log.ts";

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
