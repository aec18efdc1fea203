// The form to upload a blob in, and the next one when a registry or proxy refuses it. Pure.
//
//   whole ──413, 411──▶ pieces of 1 MiB ──▶ none
//   stream ──413, 411, cut off──▶ pieces of 8 MiB ──413──▶ pieces of 1 MiB ──▶ none

export type UploadForm =
  /** One PUT from memory, as specified for small blobs. */
  | { readonly kind: "whole" }
  /** One streamed PATCH, then an empty PUT, as container engines do. */
  | { readonly kind: "stream" }
  /** PATCHes of `bytes`, the last with the rest, then an empty PUT. */
  | { readonly kind: "pieces"; readonly bytes: number };

const MIB = 1024 * 1024;

/** Blobs up to this size (bytes) are held in memory, one per running upload. */
export const MAX_WHOLE_BYTES = 4 * MIB;
/** The largest piece (bytes). A registry with a larger minimum gets no pieces. */
export const MAX_PIECE_BYTES = 8 * MIB;
/** The default body limit of reverse proxies. */
const MIN_PIECE_BYTES = MIB;

type UploadStatus = number | "broken";

/** Statuses for "body too large" and "length required". */
const WANTS_PIECES: readonly UploadStatus[] = [411, 413];

export function firstForm(size: number): UploadForm {
  return { kind: size <= MAX_WHOLE_BYTES ? "whole" : "stream" };
}

/** The form to try after a refusal; undefined when none is left. */
export function nextForm(
  form: UploadForm,
  { status, size, leastPieceBytes }: {
    readonly status: UploadStatus;
    readonly size: number;
    /** The registry's minimum size of a piece; 0 when not given. */
    readonly leastPieceBytes: number;
  },
): UploadForm | undefined {
  const isCut = status === "broken" && form.kind === "stream";
  if (!isCut && !WANTS_PIECES.includes(status)) return undefined;
  const triedBytes = form.kind === "pieces" ? form.bytes : form.kind === "whole" ? size : Infinity;
  const bytes = [MAX_PIECE_BYTES, MIN_PIECE_BYTES]
    .map((wanted) => Math.max(wanted, leastPieceBytes))
    .find((candidate) => candidate < triedBytes && candidate <= MAX_PIECE_BYTES);
  return bytes === undefined ? undefined : { kind: "pieces", bytes };
}
