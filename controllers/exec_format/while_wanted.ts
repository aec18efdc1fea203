// A watch that runs only while it is needed.
import { orAborted } from "../../lib/clock.ts";
import type { ExecFormatDeps } from "./deps.ts";

interface Watch {
  run(signal: AbortSignal): Promise<void>;
}

/** The watch, running while there may be ENoExecEvents; what is not switched on sends no request to the API server. */
export function whileWanted(
  watch: Watch,
  { isMonitored, onChange }: Pick<ExecFormatDeps, "isMonitored" | "onChange">,
): Watch {
  let changed = Promise.withResolvers<void>();
  onChange(() => {
    changed.resolve();
    changed = Promise.withResolvers();
  });
  return {
    run: async (signal) => {
      const nextChange = (): Promise<void> => orAborted(changed.promise, signal).catch(() => {});
      while (!signal.aborted) {
        if (!isMonitored()) {
          await nextChange();
          continue;
        }
        const turn = new AbortController();
        const running = watch.run(AbortSignal.any([signal, turn.signal]));
        while (isMonitored() && !signal.aborted) await nextChange();
        turn.abort();
        await running;
      }
    },
  };
}
