// Uploads a blob in pieces, each from memory: a piece that is lost on the way is sent again from where the registry has it.
import { InspectionError } from "../errors.ts";
import type { Answer } from "../http/exchange.ts";
import type { TargetRepository, UploadSession } from "./target_repository.ts";
import { finish, OCTETS, type Sending, type UploadOptions, type UploadStep } from "./upload_step.ts";
import type { VerifiedStream } from "./verified_stream.ts";

/** Tries of one piece. */
const MAX_TRIES = 4;
/** Until a piece is taken (ms). */
const PIECE_TIMEOUTS = { headersMs: 120_000, totalMs: 120_000 };

type PieceResult =
  | { readonly kind: "taken"; readonly upload: UploadSession }
  | Extract<UploadStep, { kind: "refused" }>;

/** Sends them one after the other, then ends the upload. */
export async function sendPieces(
  source: VerifiedStream,
  { blob, upload, options, pieceBytes }: Sending & { readonly pieceBytes: number },
): Promise<UploadStep> {
  let current = upload;
  let start = 0;
  for await (const bytes of piecesOf(source.stream, pieceBytes)) {
    const result = await sendPiece({ bytes, start }, { upload: current, options });
    if (result.kind === "refused") return result;
    current = result.upload;
    start += bytes.byteLength;
  }
  return await finish({ blob, upload: current, options }, undefined);
}

interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where in the blob it begins. */
  readonly start: number;
}

async function sendPiece(
  piece: Piece,
  { upload, options }: { readonly upload: UploadSession; readonly options: UploadOptions },
): Promise<PieceResult> {
  const { target, signal } = options;
  const end = piece.start + piece.bytes.byteLength;
  let current = upload;
  let from = piece.start;
  for (let tries = 1;; tries++) {
    const rest = piece.bytes.subarray(from - piece.start);
    const body = { contentType: OCTETS, content: rest, range: `${from}-${end - 1}` };
    const sent = await attempt(() =>
      target.sendToUpload(current, { message: { method: "PATCH", body, timeouts: PIECE_TIMEOUTS }, signal })
    );
    if (sent.kind === "answer") {
      const { answer } = sent;
      if (answer?.status === 202 || answer?.status === 204) {
        return { kind: "taken", upload: target.next(current, answer) };
      }
      if (answer?.status !== 416 && (answer?.status ?? 0) < 500) return { kind: "refused", answer };
    }
    const has = tries === MAX_TRIES ? undefined : await whereIs(current, target, signal);
    if (has === undefined || has.offset < from || has.offset > end) {
      if (sent.kind === "broken") throw sent.error;
      return { kind: "refused", answer: sent.answer };
    }
    current = has.upload;
    from = has.offset;
    if (from === end) return { kind: "taken", upload: current };
  }
}

type Sent =
  | { readonly kind: "answer"; readonly answer: Answer | undefined }
  | { readonly kind: "broken"; readonly error: InspectionError };

async function attempt(send: () => Promise<Answer | undefined>): Promise<Sent> {
  try {
    return { kind: "answer", answer: await send() };
  } catch (error) {
    if (error instanceof InspectionError && error.failure.kind === "transient") return { kind: "broken", error };
    throw error;
  }
}

/** How much of the blob the registry has; undefined when it does not say. */
async function whereIs(
  upload: UploadSession,
  target: TargetRepository,
  signal: AbortSignal,
): Promise<{ readonly upload: UploadSession; readonly offset: number } | undefined> {
  const answer = await target.sendToUpload(upload, { message: { method: "GET" }, signal });
  const range = /^(?:bytes=)?0-(\d{1,15})$/.exec(answer?.headers.get("range") ?? "");
  if (answer === undefined || range === null || answer.status !== 204 && answer.status !== 202) return undefined;
  return { upload: target.next(upload, answer), offset: Number(range[1]) + 1 };
}

/** The stream in pieces of so many bytes, the last one with what is left. Each has a buffer of its own. */
async function* piecesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  bytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
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
