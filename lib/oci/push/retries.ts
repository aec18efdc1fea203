// Bounded retries of work on a registry that may be done twice without harm: everything of a push is named by its digest.
import { backoffMs, type Clock } from "../../clock.ts";
import { InspectionError } from "../errors.ts";
import { PushError } from "./push_error.ts";

export const MAX_ATTEMPTS = 4;
const BACKOFF = { baseMs: 500, capMs: 8_000 } as const;
/** A registry that wants to be left alone for longer is not waited for. */
const MAX_WAIT_MS = 30_000;

/** Not a bad certificate. Parts that it lacks may pass: storage that lags behind hides them for a moment. */
function transientOf(error: unknown): { readonly retryAfterMs: number | undefined } | undefined {
  if (!(error instanceof InspectionError || error instanceof PushError)) return undefined;
  const { kind, reason, retryAfterMs } = error.failure;
  const mayPass = kind === "transient" && reason !== "TlsFailed" || reason === "PartsMissing";
  return mayPass ? { retryAfterMs } : undefined;
}

/** The first result; throws what the last try threw, what is permanent at once, and the signal's reason. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const transient = signal.aborted ? undefined : transientOf(error);
      const waitMs = transient?.retryAfterMs ?? backoffMs(attempt, BACKOFF);
      if (transient === undefined || attempt === MAX_ATTEMPTS || waitMs > MAX_WAIT_MS) throw error;
      await clock.sleep(waitMs, signal);
    }
  }
}
