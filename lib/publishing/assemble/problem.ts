// Why an index cannot be assembled, as data for people and programs.
import { RegistryError, type RegistryFailure } from "../../oci/errors.ts";
import { PushError } from "../../oci/push/push_error.ts";

export interface AssembleProblem extends Pick<RegistryFailure, "kind" | "message" | "retryAfterMs"> {
  readonly image?: string | undefined;
  /** The reason of a {@link RegistryError} or {@link PushError}, or of the judgement on an image. */
  readonly reason: string;
}

/** The problem of a registry's error. Rethrows other errors, and every error after the signal aborted. */
export function problemOf(error: unknown, signal: AbortSignal, image?: string): AssembleProblem {
  if (signal.aborted || !(error instanceof RegistryError || error instanceof PushError)) throw error;
  const { kind, reason, message, retryAfterMs } = error.failure;
  return { kind, reason, message, image, retryAfterMs };
}
