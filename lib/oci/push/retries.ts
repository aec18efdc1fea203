// Bounded retries of idempotent work on a registry: a push names all content by digest.
import { backoffMs, type Clock } from "../../clock.ts";
import { RegistryError } from "../errors.ts";
import { PushError } from "./push_error.ts";

export const MAX_ATTEMPTS = 4;
const BACKOFF = { baseMs: 500, capMs: 8_000 } as const;
/** If a registry asks for a longer pause, the call fails. */
const MAX_WAIT_MS = 30_000;

/** Undefined for an error that will not pass, such as a bad certificate. Missing parts may pass: storage may lag. */
function transientOf(error: unknown): { readonly retryAfterMs: number | undefined } | undefined {
  if (!(error instanceof RegistryError || error instanceof PushError)) return undefined;
  const { kind, reason, retryAfterMs } = error.failure;
  const mayPass = kind === "transient" && reason !== "TlsFailed" || reason === "PartsMissing";
  return mayPass ? { retryAfterMs } : undefined;
}

/** The first result. Throws a permanent error at once, the last transient one, or the signal's reason. */
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
