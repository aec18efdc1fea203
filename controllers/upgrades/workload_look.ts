// Looks at the workloads of the cluster beside the reconciles: it takes many requests and may take minutes.
import { orAborted } from "../../lib/clock.ts";
import { errorText } from "../../lib/log.ts";
import type { Runnable } from "../controller.ts";
import type { AdviseOnWorkloads } from "./deps.ts";

/** The look. It is made once, when its findings are wanted first. */
export interface WorkloadLook extends Runnable {
  /** What was found; undefined until then, and from now on somebody waits for it. */
  findings(): readonly string[] | undefined;
}

export function openWorkloadLook(advise: AdviseOnWorkloads, onFound: () => void): WorkloadLook {
  const wanted = Promise.withResolvers<void>();
  let found: readonly string[] | undefined;
  return {
    findings: () => {
      if (found === undefined) wanted.resolve();
      return found;
    },
    run: async (signal) => {
      await orAborted(wanted.promise, signal).catch(() => undefined);
      if (signal.aborted || found !== undefined) return;
      found = await look(advise, signal);
      if (found !== undefined) onFound();
    },
  };
}

/** A look that fails holds nothing up; one that is cut off is made again by the next leader. */
async function look(advise: AdviseOnWorkloads, signal: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    return await advise(signal);
  } catch (error) {
    return signal.aborted ? undefined : [`Workloads were not looked at: ${errorText(error)}`];
  }
}
