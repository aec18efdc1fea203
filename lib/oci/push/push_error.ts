// A write that a registry did not take, as an error with its class. What goes wrong on the wire is an InspectionError.

export const PUSH_REASONS = [
  /** 401: no credential may push. */
  "Unauthorized",
  /** 403: the login is good, its rights do not suffice. */
  "PushDenied",
  /** The registry does not take manifests of this media type. */
  "MediaTypeRefused",
  /** The registry lacks something that the manifest names. */
  "PartsMissing",
  "DigestMismatch",
  "TooLarge",
  /** Anything else that asking again does not mend: a tag that must not move, a repository that is not there, a quota. */
  "Refused",
  "RateLimited",
  /** 5xx, or an answer that makes no sense. */
  "ServerError",
] as const;

export type PushReason = typeof PUSH_REASONS[number];

/** A failed write as data. The message is safe to show: no credential, no URL query. */
interface PushFailure {
  readonly kind: "permanent" | "transient";
  readonly reason: PushReason;
  readonly message: string;
  readonly registry: string;
  readonly retryAfterMs?: number | undefined;
}

export class PushError extends Error {
  override readonly name = "PushError";
  readonly failure: PushFailure;

  constructor(failure: PushFailure, options: { readonly cause?: unknown } = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}
