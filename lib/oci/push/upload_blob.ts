// Uploads one blob in a form that the registry accepts. Lost pieces are resent; unfinished uploads are cancelled.
import { RegistryError, registryError } from "../errors.ts";
import type { ExchangeBody, RegistryResponse } from "../http/exchange.ts";
import { GUARDED_TIMEOUTS, IdleGuard, type IdleLimits } from "./idle_guard.ts";
import type { TargetRepository, UploadLocation } from "./target_repository.ts";
import { firstForm, nextForm, type UploadForm } from "./upload_form.ts";
import type { BlobDescriptor, VerifiedStream } from "./verified_stream.ts";

interface BlobContent {
  readonly blob: BlobDescriptor;
  readonly open: () => Promise<VerifiedStream>;
}

interface UploadOptions {
  readonly target: TargetRepository;
  readonly begun?: UploadLocation | undefined;
  readonly signal: AbortSignal;
  readonly limits: IdleLimits;
}

type UploadStep =
  | { readonly kind: "stored" }
  | { readonly kind: "refused"; readonly answer: RegistryResponse | undefined }
  /** The connection was cut, as by some proxies when a body is too large. */
  | { readonly kind: "broken"; readonly error: RegistryError };

const CANCEL_MS = 5_000;
const PIECE_TIMEOUTS = { headersMs: 120_000, totalMs: 120_000 };
const OCTETS = "application/octet-stream";

/** Uploads a blob. Throws PushError or RegistryError; then nothing is stored under its digest. */
export async function uploadBlob({ blob, open }: BlobContent, options: UploadOptions): Promise<void> {
  const { target } = options;
  let location = options.begun ?? await target.startUpload();
  let form = firstForm(blob.size);
  for (;;) {
    const step = await new BlobUpload(blob, location, options).run(form, open);
    if (step.kind === "stored") return;
    const { leastPieceBytes } = location;
    const status = step.kind === "broken" ? step.kind : step.answer?.status ?? 401;
    const next = nextForm(form, { status, size: blob.size, leastPieceBytes });
    if (next === undefined) throw step.kind === "broken" ? step.error : target.uploadRefused(step.answer, blob.digest);
    form = next;
    location = await target.startUpload();
  }
}

class BlobUpload {
  readonly #blob: BlobDescriptor;
  readonly #options: UploadOptions;
  #location: UploadLocation;

  constructor(blob: BlobDescriptor, location: UploadLocation, options: UploadOptions) {
    this.#blob = blob;
    this.#location = location;
    this.#options = options;
  }

  async run(form: UploadForm, open: BlobContent["open"]): Promise<UploadStep> {
    const begun = this.#location;
    let step: UploadStep | undefined;
    try {
      step = await this.#sendAs(form, await open());
      return step;
    } finally {
      if (step?.kind !== "stored") await this.#cancel(begun);
    }
  }

  async #sendAs(form: UploadForm, source: VerifiedStream): Promise<UploadStep> {
    const { stream } = source;
    try {
      if (form.kind === "whole") return await this.#sendWhole(stream);
      return form.kind === "pieces" ? await this.#sendPieces(stream, form.bytes) : await this.#sendStream(stream);
    } catch (error) {
      // If the source broke off, the target is not at fault.
      const fault = source.fault() ?? error;
      const isBroken = fault === error && error instanceof RegistryError && error.failure.reason === "Unreachable";
      if (isBroken) return { kind: "broken", error };
      throw fault;
    } finally {
      if (!stream.locked) await stream.cancel().catch(() => {});
    }
  }

  /** Collects the blob first, so that no byte of a wrong blob is sent. */
  async #sendWhole(stream: VerifiedStream["stream"]): Promise<UploadStep> {
    const bytes = new Uint8Array(this.#blob.size);
    let at = 0;
    for await (const part of stream) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return await this.#finish({ contentType: OCTETS, content: bytes });
  }

  async #sendStream(stream: VerifiedStream["stream"]): Promise<UploadStep> {
    const { target, limits, signal } = this.#options;
    using guard = new IdleGuard(target.endpoint.host, limits);
    const body = { contentType: OCTETS, content: onceOnly(watched(stream, guard), target) };
    const answer = await target.sendToUpload(this.#location, {
      message: { method: "PATCH", body, timeouts: GUARDED_TIMEOUTS },
      signal: AbortSignal.any([signal, guard.signal]),
    });
    if (answer?.status !== 202 && answer?.status !== 204) return { kind: "refused", answer };
    this.#location = target.next(this.#location, answer);
    return await this.#finish();
  }

  async #sendPieces(stream: VerifiedStream["stream"], pieceBytes: number): Promise<UploadStep> {
    let start = 0;
    for await (const bytes of piecesOf(stream, pieceBytes)) {
      const failure = await this.#sendPiece(bytes, start);
      if (failure !== undefined) return failure;
      start += bytes.byteLength;
    }
    return await this.#finish();
  }

  /** Resumes once from the offset that the registry states. Gives the first failure when that fails as well. */
  async #sendPiece(bytes: Uint8Array<ArrayBuffer>, start: number): Promise<UploadStep | undefined> {
    const failure = await this.#patch(bytes, start);
    if (failure === undefined || !isResumable(failure)) return failure;
    const has = await this.#offset();
    const end = start + bytes.byteLength;
    if (has === undefined || has < start || has > end) return failure;
    const isSent = has === end || await this.#patch(bytes.subarray(has - start), has) === undefined;
    return isSent ? undefined : failure;
  }

  async #patch(bytes: Uint8Array<ArrayBuffer>, start: number): Promise<UploadStep | undefined> {
    const { target, signal } = this.#options;
    const body = { contentType: OCTETS, content: bytes, range: `${start}-${start + bytes.byteLength - 1}` };
    const message = { method: "PATCH", body, timeouts: PIECE_TIMEOUTS } as const;
    try {
      const answer = await target.sendToUpload(this.#location, { message, signal });
      if (answer?.status !== 202 && answer?.status !== 204) return { kind: "refused", answer };
      this.#location = target.next(this.#location, answer);
      return undefined;
    } catch (error) {
      if (error instanceof RegistryError && error.failure.kind === "transient") return { kind: "broken", error };
      throw error;
    }
  }

  /** How many bytes the registry has; undefined when not given. */
  async #offset(): Promise<number | undefined> {
    const { target, signal } = this.#options;
    const answer = await target.sendToUpload(this.#location, { message: { method: "GET" }, signal });
    const range = /^(?:bytes=)?0-(\d{1,15})$/.exec(answer?.headers.get("range") ?? "");
    if (answer === undefined || range === null || answer.status !== 204 && answer.status !== 202) return undefined;
    this.#location = target.next(this.#location, answer);
    return Number(range[1]) + 1;
  }

  /** Throws when the registry states another digest. */
  async #finish(body?: ExchangeBody): Promise<UploadStep> {
    const { target, limits: { answerMs }, signal } = this.#options;
    const { digest } = this.#blob;
    const answer = await target.sendToUpload(this.#location, {
      message: { method: "PUT", timeouts: { headersMs: answerMs, totalMs: answerMs }, body },
      digest,
      signal,
    });
    if (answer?.status !== 201 && answer?.status !== 204) return { kind: "refused", answer };
    const stated = answer.headers.get("docker-content-digest") ?? digest;
    if (stated === digest) return { kind: "stored" };
    const stored = stated.slice(0, 200);
    const message = `Cannot trust the upload of "${digest}" to "${target.name}": the registry stored "${stored}".`;
    throw target.failure("DigestMismatch", message);
  }

  /** Frees the registry's storage. Best effort, since registries expire abandoned uploads. */
  async #cancel(begun: UploadLocation): Promise<void> {
    try {
      const signal = AbortSignal.timeout(CANCEL_MS);
      await this.#options.target.sendToUpload(begun, { message: { method: "DELETE" }, signal });
    } catch {
      // The earlier failure is reported instead.
    }
  }
}

/** After 416, 5xx or a lost answer the registry may have a part of the piece, or all of it. */
function isResumable(failure: UploadStep): boolean {
  if (failure.kind !== "refused") return true;
  const status = failure.answer?.status ?? 401;
  return status === 416 || status >= 500;
}

/** Each chunk counts as progress. It is freed at the next read: garbage would exceed the memory budget. */
function watched(stream: VerifiedStream["stream"], guard: IdleGuard): VerifiedStream["stream"] {
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

/** A request repeated after a new token or a pause lacks the bytes already read, so the upload must restart. */
function onceOnly<T>(stream: T, { name, endpoint: { host: registry } }: TargetRepository): () => T {
  let isGiven = false;
  return () => {
    const message = `Cannot push to "${name}": the registry wants the upload again.`;
    if (isGiven) throw registryError("ServerError", message, { registry });
    isGiven = true;
    return stream;
  };
}

/** The stream in pieces of `bytes`; the last has the rest. Each has its own buffer. */
async function* piecesOf(stream: VerifiedStream["stream"], bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(bytes);
  let filled = 0;
  for await (const part of stream) {
    for (let at = 0; at < part.byteLength;) {
      const taken = part.subarray(at, at + bytes - filled);
      piece.set(taken, filled);
      filled += taken.byteLength;
      at += taken.byteLength;
      if (filled < bytes) continue;
      yield piece;
      piece = new Uint8Array(bytes);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
