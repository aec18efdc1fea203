// A failed inspection as an error: thrown while an image is read, and turned into data by the inspector.
import type { FailureReason, InspectionFailure } from "./types.ts";

/** What may pass; all other reasons are permanent. A wrong digest is mostly the work of a cache on the way, which may get it right. */
const TRANSIENT: readonly FailureReason[] = [
  "Unreachable",
  "TlsFailed",
  "Timeout",
  "ServerError",
  "RateLimited",
  "CircuitOpen",
  "Busy",
  "DigestMismatch",
];

/** Whether Archway itself held the request or its answer back: the registry is not at fault, and says more the next time. */
export function isHeldBack({ reason }: Pick<InspectionFailure, "reason">): boolean {
  return reason === "CircuitOpen" || reason === "Busy";
}

/** A failure with its cause. The message is safe to show: no credential, no URL query. */
export class InspectionError extends Error {
  override readonly name = "InspectionError";
  readonly failure: InspectionFailure;

  constructor(failure: InspectionFailure, options: { readonly cause?: unknown } = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}

type FailureDetails = Pick<InspectionFailure, "registry" | "retryAfterMs">;

export function failureOf(reason: FailureReason, message: string, details: FailureDetails = {}): InspectionFailure {
  const { registry, retryAfterMs } = details;
  return {
    kind: TRANSIENT.includes(reason) ? "transient" : "permanent",
    reason,
    message,
    ...(registry === undefined ? {} : { registry }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export function inspectionError(
  reason: FailureReason,
  message: string,
  details: FailureDetails & { readonly cause?: unknown } = {},
): InspectionError {
  return new InspectionError(failureOf(reason, message, details), { cause: details.cause });
}
