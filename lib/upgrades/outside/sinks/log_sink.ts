// Notifications as lines of the log.
import type { Logger } from "../../../log.ts";
import type { NotificationSink } from "./sink.ts";

/** Opens the sink. It never fails. */
export function openLogSink(log: Logger): NotificationSink {
  return {
    name: "log",
    send: ({ state, version, description }) => {
      log.info("upgrade notification", { state, version, description });
      return Promise.resolve();
    },
  };
}
