// Failures of registries, as data and as the error that is thrown while a registry is read or written.

const PERMANENT = [
  "InvalidReference",
  "ManifestUnknown",
  "Unauthorized",
  "NotAnImage",
  "Blocked",
  "Malformed",
  "TooLarge",
  "AddressDenied",
  "Misconfigured",
  "TooManyImages",
] as const;

/**
 * Failures that may pass. A wrong digest mostly comes from a cache on the way, which may give the right content later.
 */
const TRANSIENT = [
  "Unreachable",
  "TlsFailed",
  "Timeout",
  "ServerError",
  "RateLimited",
  "CircuitOpen",
  "Busy",
  "DigestMismatch",
] as const;

/** Why a registry could not be read or written. The closed set is also a metric label. */
export const FAILURE_REASONS = [...PERMANENT, ...TRANSIENT] as const;

export type FailureReason = typeof FAILURE_REASONS[number];

/** `permanent`: asking again will not help soon. `message` is safe to show: no credential, no URL query. */
export interface RegistryFailure {
  readonly kind: "permanent" | "transient";
  readonly reason: FailureReason;
  readonly message: string;
  /** `host[:port]` of the registry that failed, where a request was sent. */
  readonly registry?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Whether Archway did not send the request, or read no answer, since the registry fails or memory is short. It says
 * nothing of what the registry would answer. A request that would wait too long for its account is RateLimited.
 */
export function isHeldBack({ reason }: Pick<RegistryFailure, "reason">): boolean {
  return reason === "CircuitOpen" || reason === "Busy";
}

/** A failure with its cause. The message is safe to show: no credential, no URL query. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  readonly failure: RegistryFailure;

  constructor(failure: RegistryFailure, options: { readonly cause?: unknown } = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}

type FailureDetails = Pick<RegistryFailure, "registry" | "retryAfterMs">;

export function failureOf(reason: FailureReason, message: string, details: FailureDetails = {}): RegistryFailure {
  const { registry, retryAfterMs } = details;
  return {
    kind: TRANSIENT.some((transient) => transient === reason) ? "transient" : "permanent",
    reason,
    message,
    ...(registry === undefined ? {} : { registry }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export function registryError(
  reason: FailureReason,
  message: string,
  details: FailureDetails & { readonly cause?: unknown } = {},
): RegistryError {
  return new RegistryError(failureOf(reason, message, details), { cause: details.cause });
}
