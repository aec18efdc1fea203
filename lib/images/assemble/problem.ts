// What keeps an index from being made, as data for people and programs.
import { InspectionError } from "../../oci/errors.ts";
import type { InspectionFailure } from "../../oci/types.ts";
import { PushError } from "../../oci/push/push_error.ts";

export interface AssembleProblem extends Pick<InspectionFailure, "kind" | "message" | "retryAfterMs"> {
  readonly image?: string | undefined;
  /** The class: of {@link InspectionError}, {@link PushError} or the judgement of an image. */
  readonly reason: string;
}

/** The problem of a registry's error. Throws any other one, and all once the signal has aborted. */
export function problemOf(error: unknown, signal: AbortSignal, image?: string): AssembleProblem {
  if (signal.aborted || !(error instanceof InspectionError || error instanceof PushError)) throw error;
  const { kind, reason, message, retryAfterMs } = error.failure;
  return { kind, reason, message, image, retryAfterMs };
}
