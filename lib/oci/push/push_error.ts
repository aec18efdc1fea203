// The error for a write that a registry refused. Connection faults are RegistryErrors.
import type { RegistryFailure } from "../errors.ts";

export type PushReason =
  /** 401: no credential was accepted. */
  | "Unauthorized"
  /** 403: the login is valid but lacks the right to push. */
  | "PushDenied"
  /** The registry does not accept manifests of this media type. */
  | "MediaTypeRefused"
  /** The registry lacks something that the manifest names. */
  | "PartsMissing"
  | "DigestMismatch"
  | "TooLarge"
  /** Any other permanent refusal: an immutable tag, a missing repository, a quota. */
  | "Refused"
  | "RateLimited"
  /** 5xx, or an unexpected answer. */
  | "ServerError";

/** A failed write as data. The message is safe to show: no credential, no URL query. */
type PushFailure = Omit<RegistryFailure, "reason"> & { readonly reason: PushReason };

export class PushError extends Error {
  override readonly name = "PushError";
  readonly failure: PushFailure;

  constructor(failure: PushFailure, options: { readonly cause?: unknown } = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}
