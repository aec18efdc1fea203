// Inspects the workloads of the cluster beside the reconciles: it takes many requests and may take minutes.
import { orAborted } from "../../lib/clock.ts";
import { errorText } from "../../lib/log.ts";
import type { Runnable } from "../controller.ts";
import type { AdviseOnWorkloads } from "./deps.ts";

/** Advice that is made once, when it is wanted first. */
export interface WorkloadAdvice extends Runnable {
  /** undefined until the advice is there. The first call starts the inspection. */
  sentences(): readonly string[] | undefined;
}

export function openWorkloadAdvice(advise: AdviseOnWorkloads, onFound: () => void): WorkloadAdvice {
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
      found = await adviseOrExplain(advise, signal);
      if (found !== undefined) onFound();
    },
  };
}

/** An inspection that fails holds nothing up; one that is cut off is made again by the next leader. */
async function adviseOrExplain(advise: AdviseOnWorkloads, signal: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    return await advise(signal);
  } catch (error) {
    return signal.aborted ? undefined : [`Workloads were not looked at: ${errorText(error)}`];
  }
}
