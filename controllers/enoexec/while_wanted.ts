// A watch that runs only while it is needed.
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
      const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      while (!signal.aborted) {
        const next = changed.promise;
        if (!isMonitored()) {
          await Promise.race([next, ended]);
          continue;
        }
        const turn = new AbortController();
        const running = watch.run(AbortSignal.any([signal, turn.signal]));
        while (isMonitored() && !signal.aborted) await Promise.race([changed.promise, ended]);
        turn.abort();
        await running;
      }
    },
  };
}
