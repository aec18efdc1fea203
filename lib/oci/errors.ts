// What failed at a registry, as an error: thrown while it is read or written, and turned into data by the inspector.

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

/** What may pass. A wrong digest is mostly the work of a cache on the way, which may get it right. */
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
 * Whether Archway itself held the request or its answer back: the registry is not at fault, and says more the next
 * time.
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
