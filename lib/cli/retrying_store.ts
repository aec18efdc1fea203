// A store whose writes are tried again for a while: the service must never wait for its cache, a command that fills one may.
import type { Clock } from "../clock.ts";
import type { KeyValueStore } from "../kv/store.ts";

/** How often, and at which interval (ms), a call is retried: in total longer than the circuit breaker of a store is open. */
const TRIES = 60;
const TRY_EVERY_MS = 200;

export interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Retries until it succeeds; false when it does not in time. */
export async function waitFor(isSo: () => Promise<boolean>, { clock, signal }: WaitOptions): Promise<boolean> {
  for (let tries = 1; !await isSo(); tries++) {
    if (tries === TRIES || signal.aborted) return false;
    await clock.sleep(TRY_EVERY_MS, signal);
  }
  return true;
}

/** The store with writes that are tried again. After one that failed to the end, later ones are tried once. */
export function retryingStore(store: KeyValueStore, options: WaitOptions): KeyValueStore {
  let hasFailed = false;
  return {
    ...store,
    set: async (key, value) => {
      if (hasFailed) return await store.set(key, value);
      const isStored = await waitFor(() => store.set(key, value), options);
      hasFailed ||= !isStored;
      return isStored;
    },
  };
}
