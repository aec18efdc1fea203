// Inspects the cluster's workloads outside of reconciles, since it takes many requests and maybe minutes.
import { orAborted } from "../../lib/clock.ts";
import { errorText } from "../../lib/log.ts";
import type { Runnable } from "../controller.ts";
import type { AdviseOnWorkloads } from "./deps.ts";

/** Advice that is created once, on first use. */
export interface BackgroundAdvice extends Runnable {
  /** Undefined until the advice is ready. The first call starts the inspection. */
  sentences(): readonly string[] | undefined;
}

export function openBackgroundAdvice(advise: AdviseOnWorkloads, onFound: () => void): BackgroundAdvice {
  const wanted = Promise.withResolvers<void>();
  let found: readonly string[] | undefined;
  return {
    sentences: () => {
      if (found === undefined) wanted.resolve();
      return found;
    },
    run: async (signal) => {
      await orAborted(wanted.promise, signal).catch(() => undefined);
      if (signal.aborted || found !== undefined) return;
      // A failed inspection blocks nothing; the next leader repeats an aborted one.
      found = await advise(signal).catch((error: unknown) =>
        signal.aborted ? undefined : [`Workloads were not looked at: ${errorText(error)}`]
      );
      if (found !== undefined) onFound();
    },
  };
}
