// In which form a blob is uploaded, and what to try when a registry, or a proxy before it, refuses one. Pure.
//
//   whole ──413──▶ pieces of 8 MiB ──413──▶ pieces of 1 MiB ──▶ none
//   stream ──413, 411, cut off──▶ pieces of 8 MiB
//      └──another refusal──▶ stream at once

export type UploadForm =
  /** In one PUT from memory, as the specification has it for small blobs. */
  | { readonly kind: "whole" }
  /** In one PATCH as they come, then an empty PUT: what container engines do. */
  | { readonly kind: "stream" }
  /** In one PUT as they come, for registries that take no PATCH. */
  | { readonly kind: "stream at once" }
  /** In PATCHes of `bytes`, the last one with the rest, then an empty PUT. */
  | { readonly kind: "pieces"; readonly bytes: number };

const MIB = 1024 * 1024;

/** Blobs up to this size (bytes) are held in memory, one for each upload that runs. */
export const MAX_WHOLE_BYTES = 4 * MIB;
/** The largest piece: a registry that wants larger ones is not sent pieces. */
export const MAX_PIECE_BYTES = 8 * MIB;
/** What reverse proxies take without being configured. */
const MIN_PIECE_BYTES = MIB;

type UploadStatus = number | "broken";

/** Statuses that say "too much in one request", or "say the length first". */
const WANTS_PIECES: readonly UploadStatus[] = [411, 413];
const WANTS_PUT: readonly UploadStatus[] = [400, 404, 405, 415, 416, 501];

export function firstForm(size: number): UploadForm {
  return { kind: size <= MAX_WHOLE_BYTES ? "whole" : "stream" };
}

/** The form to try next after a refusal; undefined: there is none, the refusal stands. */
export function nextForm(
  form: UploadForm,
  { status, size, leastPieceBytes }: {
    readonly status: UploadStatus;
    readonly size: number;
    /** The least bytes of a piece that the registry asks for; 0 when it does not say. */
    readonly leastPieceBytes: number;
  },
): UploadForm | undefined {
  if (form.kind === "stream" && WANTS_PUT.includes(status)) return { kind: "stream at once" };
  const isCut = status === "broken" && (form.kind === "stream" || form.kind === "stream at once");
  if (!isCut && !WANTS_PIECES.includes(status)) return undefined;
  const triedBytes = form.kind === "pieces" ? form.bytes : form.kind === "whole" ? size : Infinity;
  const bytes = [MAX_PIECE_BYTES, MIN_PIECE_BYTES]
    .map((wanted) => Math.max(wanted, leastPieceBytes))
    .find((candidate) => candidate < triedBytes && candidate <= MAX_PIECE_BYTES);
  return bytes === undefined ? undefined : { kind: "pieces", bytes };
}
