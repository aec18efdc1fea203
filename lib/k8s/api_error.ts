// Errors between Archway and the API server, classified by what a caller can do.

/** A Status answer of the API server, or no answer at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** `reason` of the Status object: `NotFound`, `Conflict`, `Invalid`, `Expired`… Empty when unknown. */
  readonly reason: string;
  /** Whether the server named fields it refused (`details.causes`). A failed `test` operation names none. */
  readonly hasCauses: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: {
      readonly status: number;
      readonly reason?: string;
      readonly hasCauses?: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.reason = details.reason ?? "";
    this.hasCauses = details.hasCauses ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

type WriteFailure =
  | "gone"
  /** The object changed since it was read (409, or 422 without causes from a failed `test`): reread it. */
  | "stale"
  /** The server rejected the change itself (422 with causes, 400, 413): it will never pass. */
  | "refused"
  /** Anything else (no answer, 429, 5xx, 401, 403): the same write may pass later. */
  | "transient";

/** Classifies a thrown write error, by the answers of API servers v1.36. */
export function classifyWriteFailure(error: unknown): WriteFailure {
  if (!(error instanceof ApiError)) return "transient";
  if (error.status === 404) return "gone";
  if (error.status === 409) return "stale";
  if (error.status === 422) return error.hasCauses ? "refused" : "stale";
  if (error.status === 400 || error.status === 413) return "refused";
  return "transient";
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** Whether the object of a write is gone, or replaced by one with another uid. */
export function isGoneOrReplaced(error: unknown): boolean {
  return isNotFound(error) || isConflict(error);
}

/** Whether a list or watch must start over: its resourceVersion is too old. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === "Expired");
}

/** Whether the object, its kind or the right to it is missing. */
export function isMissingOrForbidden(error: unknown): boolean {
  return isForbidden(error) || isNotFound(error);
}
