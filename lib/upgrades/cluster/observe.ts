// A reading that may fail, as an observation.
import { errorText } from "../../log.ts";
import type { Observation } from "../decide/types/observed.ts";

/** What was read, or why it is not known. Rejects only when the signal aborts. */
export async function observe<T>(read: () => Promise<T>, signal: AbortSignal): Promise<Observation<T>> {
  try {
    return { kind: "observed", value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "unknown", why: errorText(error) };
  }
}
