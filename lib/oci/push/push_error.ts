// A write that a registry did not take, as an error with its class. What goes wrong on the wire is an InspectionError.
import type { InspectionFailure } from "../types.ts";

export type PushReason =
  /** 401: no credential may push. */
  | "Unauthorized"
  /** 403: the login is good, its rights do not suffice. */
  | "PushDenied"
  /** The registry does not take manifests of this media type. */
  | "MediaTypeRefused"
  /** The registry lacks something that the manifest names. */
  | "PartsMissing"
  | "DigestMismatch"
  | "TooLarge"
  /** Anything else that asking again does not mend: a tag that must not move, a repository that is not there, a quota. */
  | "Refused"
  | "RateLimited"
  /** 5xx, or an answer that makes no sense. */
  | "ServerError";

/** A failed write as data. The message is safe to show: no credential, no URL query. */
type PushFailure = Omit<InspectionFailure, "reason"> & { readonly reason: PushReason };

export class PushError extends Error {
  override readonly name = "PushError";
  readonly failure: PushFailure;

  constructor(failure: PushFailure, options: { readonly cause?: unknown } = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}
