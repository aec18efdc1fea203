// Uploads one blob: in the form that the registry takes, from a source that can be opened again for each form. What is not
// finished is cancelled, so far as the registry allows.
import { InspectionError, inspectionError } from "../errors.ts";
import { GUARDED_TIMEOUTS, IdleGuard } from "./idle_guard.ts";
import type { TargetRepository, UploadSession } from "./target_repository.ts";
import { firstForm, nextForm, type UploadForm } from "./upload_form.ts";
import { sendPieces } from "./upload_pieces.ts";
import { finish, isStored, OCTETS, type Sending, type UploadOptions, type UploadStep } from "./upload_step.ts";
import type { BlobDescriptor, VerifiedStream } from "./verified_stream.ts";

/** A blob to upload. */
export interface BlobContent {
  readonly blob: BlobDescriptor;
  /** Its bytes from the beginning. */
  readonly open: () => Promise<VerifiedStream>;
}

/** How long a cancelled upload may take to be (ms). */
const CANCEL_MS = 5_000;

/** Uploads it. Throws PushError or InspectionError; then nothing is stored under its digest. */
export async function uploadBlob(content: BlobContent, options: UploadOptions): Promise<void> {
  const { target } = options;
  const { blob } = content;
  let upload = options.begun ?? await target.startUpload();
  let form = firstForm(blob.size);
  for (;;) {
    const step = await tryForm(form, { content, upload, options });
    if (step.kind === "stored") return;
    const { leastPieceBytes } = upload;
    const status = step.kind === "broken" ? step.kind : step.answer?.status ?? 401;
    const next = nextForm(form, { status, size: blob.size, leastPieceBytes });
    if (next === undefined) throw step.kind === "broken" ? step.error : target.uploadRefused(step.answer, blob.digest);
    form = next;
    upload = await target.startUpload();
  }
}

interface Try {
  readonly content: BlobContent;
  readonly upload: UploadSession;
  readonly options: UploadOptions;
}

async function tryForm(form: UploadForm, { content, upload, options }: Try): Promise<UploadStep> {
  const { target } = options;
  try {
    const step = await sendAs(form, { content, upload, options });
    if (step.kind !== "stored") await cancel(target, upload);
    return step;
  } catch (error) {
    await cancel(target, upload);
    throw error;
  }
}

async function sendAs(form: UploadForm, { content, upload, options }: Try): Promise<UploadStep> {
  const source = await content.open();
  try {
    return await sendFrom(source, form, { blob: content.blob, upload, options });
  } catch (error) {
    // What the wire says of a request whose body broke off is not the target's fault.
    const fault = source.fault() ?? error;
    const isBroken = fault === error && error instanceof InspectionError && error.failure.reason === "Unreachable";
    if (isBroken) return { kind: "broken", error };
    throw fault;
  } finally {
    if (!source.stream.locked) await source.stream.cancel().catch(() => {});
  }
}

function sendFrom(source: VerifiedStream, form: UploadForm, sending: Sending): Promise<UploadStep> {
  switch (form.kind) {
    case "whole":
      return sendWhole(source, sending);
    case "stream":
    case "stream at once":
      return sendStream(source, { ...sending, isAtOnce: form.kind === "stream at once" });
    case "pieces":
      return sendPieces(source, { ...sending, pieceBytes: form.bytes });
  }
}

/** Collects the blob first, so that not a byte of a wrong one is sent. */
async function sendWhole(source: VerifiedStream, { blob, upload, options }: Sending): Promise<UploadStep> {
  const bytes = new Uint8Array(blob.size);
  let at = 0;
  for await (const part of source.stream) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return await finish({ blob, upload, options }, bytes);
}

async function sendStream(
  source: VerifiedStream,
  { blob, upload, options, isAtOnce }: Sending & { readonly isAtOnce: boolean },
): Promise<UploadStep> {
  const { target, limits, signal } = options;
  using guard = new IdleGuard(target.endpoint.host, limits);
  const content = onceOnly(watched(source.stream, guard), target);
  const answer = await target.sendToUpload(upload, {
    message: {
      method: isAtOnce ? "PUT" : "PATCH",
      body: { contentType: OCTETS, content },
      timeouts: GUARDED_TIMEOUTS,
    },
    digest: isAtOnce ? blob.digest : undefined,
    signal: AbortSignal.any([signal, guard.signal]),
  });
  if (isAtOnce) return isStored(answer, { blob, target }) ? { kind: "stored" } : { kind: "refused", answer };
  if (answer?.status !== 202 && answer?.status !== 204) return { kind: "refused", answer };
  return await finish({ blob, upload: target.next(upload, answer), options }, undefined);
}

/**
 * The same bytes; each chunk counts as progress for the guard. A chunk is freed when the next one is read, as the one
 * before has been handed over by then: garbage outside of the counted memory would grow to many times of what is on its way.
 */
function watched(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  guard: IdleGuard,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let handedOver: ArrayBuffer | undefined;
  return new ReadableStream({
    pull: async (controller) => {
      if (handedOver?.detached === false) handedOver.transfer(0);
      handedOver = undefined;
      const part = await reader.read();
      if (part.done) {
        guard.sent();
        controller.close();
      } else {
        guard.moved();
        handedOver = part.value.buffer;
        controller.enqueue(part.value);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** A request that is sent again, for a token that ended or a pause, begins with bytes that are gone: the blob starts anew. */
function onceOnly<T>(stream: T, target: TargetRepository): () => T {
  let isGiven = false;
  return () => {
    if (isGiven) {
      const registry = target.endpoint.host;
      throw inspectionError("ServerError", `Cannot push to "${target.name}": the registry wants the upload again.`, {
        registry,
      });
    }
    isGiven = true;
    return stream;
  };
}

/** Frees what the registry holds of it. Best effort: it ends abandoned uploads by itself. */
async function cancel(target: TargetRepository, upload: UploadSession): Promise<void> {
  try {
    await target.sendToUpload(upload, { message: { method: "DELETE" }, signal: AbortSignal.timeout(CANCEL_MS) });
  } catch {
    // The failure that led here is the one to report.
  }
}
