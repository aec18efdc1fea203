// Why an index cannot be assembled, as data for people and programs.
import { RegistryError, type RegistryFailure } from "../../oci/errors.ts";
import { PushError } from "../../oci/push/push_error.ts";

export interface AssembleProblem extends Pick<RegistryFailure, "kind" | "message" | "retryAfterMs"> {
  readonly image?: string | undefined;
  /** The class: of {@link RegistryError}, {@link PushError} or the judgement of an image. */
  readonly reason: string;
}

/** The problem of a registry's error. Rethrows other errors, and all of them after the signal aborts. */
export function problemOf(error: unknown, signal: AbortSignal, image?: string): AssembleProblem {
  if (signal.aborted || !(error instanceof RegistryError || error instanceof PushError)) throw error;
  const { kind, reason, message, retryAfterMs } = error.failure;
  return { kind, reason, message, image, retryAfterMs };
}
