// One form of an upload: what it needs, and how it ends.
import type { InspectionError } from "../errors.ts";
import type { Answer } from "../http/exchange.ts";
import { IDLE_LIMITS, type IdleLimits } from "./idle_guard.ts";
import type { TargetRepository, UploadSession } from "./target_repository.ts";
import type { BlobDescriptor } from "./verified_stream.ts";

/** The media type of what is uploaded. */
export const OCTETS = "application/octet-stream";

/** Where to and how. */
export interface UploadOptions {
  readonly target: TargetRepository;
  /** One that a refused mount has begun. */
  readonly begun?: UploadSession | undefined;
  readonly signal: AbortSignal;
  readonly limits?: IdleLimits | undefined;
}

/** What a form came to: done, or the answer that refuses it. */
export type UploadStep =
  | { readonly kind: "stored" }
  | { readonly kind: "refused"; readonly answer: Answer | undefined }
  /** The connection was cut, as a proxy does that has seen enough. */
  | { readonly kind: "broken"; readonly error: InspectionError };

/** A blob on its way. */
export interface Sending {
  readonly blob: BlobDescriptor;
  readonly upload: UploadSession;
  readonly options: UploadOptions;
}

/** Ends an upload with these last bytes, or without any. */
export async function finish(
  { blob, upload, options }: Sending,
  bytes: Uint8Array<ArrayBuffer> | undefined,
): Promise<UploadStep> {
  const { target, limits = IDLE_LIMITS, signal } = options;
  const body = bytes === undefined ? {} : { body: { contentType: OCTETS, content: bytes } };
  const timeouts = { headersMs: limits.answerMs, totalMs: limits.answerMs };
  const answer = await target.sendToUpload(upload, {
    message: { method: "PUT", timeouts, ...body },
    digest: blob.digest,
    signal,
  });
  return isStored(answer, { blob, target }) ? { kind: "stored" } : { kind: "refused", answer };
}

/** Throws when the registry says that it has stored something else. */
export function isStored(
  answer: Answer | undefined,
  { blob, target }: { readonly blob: BlobDescriptor; readonly target: TargetRepository },
): boolean {
  if (answer?.status !== 201 && answer?.status !== 204) return false;
  const stated = answer.headers.get("docker-content-digest") ?? blob.digest;
  if (stated === blob.digest) return true;
  const message = `Cannot trust the upload of "${blob.digest}" to "${target.name}": the registry stored "${
    stated.slice(0, 200)
  }".`;
  throw target.failure("DigestMismatch", message);
}
