// A store for somebody who waits: what it does not take at once is offered again. The service must never wait for its cache,
// a command that fills one may. Used by cache.ts.
import type { Clock } from "../clock.ts";
import type { KeyValueStore } from "../kv/store.ts";

/** How often, and how far apart (ms), a store is asked again: longer than it rests after a row of faults. */
const TRIES = 60;
const TRY_EVERY_MS = 200;

/** Who waits, and until when. */
export interface Patience {
  readonly clock: Clock;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** Asks again until it is so; whether it became so in time. */
export async function waitFor(isSo: () => Promise<boolean>, { clock, signal }: Patience): Promise<boolean> {
  for (let tries = 1; !await isSo(); tries++) {
    if (tries === TRIES || signal.aborted) return false;
    await clock.sleep(TRY_EVERY_MS, signal);
  }
  return true;
}

/** The store with patient writes. After one that was waited for in vain, nothing is waited for any more. */
export function retryingStore(store: KeyValueStore, patience: Patience): KeyValueStore {
  let isHopeless = false;
  return {
    ...store,
    set: async (key, value) => {
      if (isHopeless) return await store.set(key, value);
      const isStored = await waitFor(() => store.set(key, value), patience);
      isHopeless ||= !isStored;
      return isStored;
    },
  };
}
