// Classifies a registry's answer to a write, by status and the error codes of the distribution specification. Pure.
import { isObject, listAt, parseObject, textAt } from "../../json.ts";
import type { PushReason } from "./push_error.ts";

export interface WriteRefusal {
  readonly kind: "permanent" | "transient";
  readonly reason: PushReason;
  readonly says: string;
}

const MAX_FAULTS = 8;
const MAX_MESSAGE = 200;

const PARTS_MISSING = ["MANIFEST_BLOB_UNKNOWN", "BLOB_UNKNOWN", "MANIFEST_UNKNOWN"];
const TYPE_REFUSED = ["MANIFEST_INVALID", "UNSUPPORTED", "MANIFEST_UNVERIFIED"];
const DENIED = ["DENIED"];

const ROWS: readonly {
  readonly fits: (status: number, codes: readonly string[]) => boolean;
  readonly kind: WriteRefusal["kind"];
  readonly reason: PushReason;
}[] = [
  { fits: (status) => status === 429, kind: "transient", reason: "RateLimited" },
  // Some registries answer 501 for an operation they lack.
  { fits: (status) => status === 501, kind: "permanent", reason: "MediaTypeRefused" },
  { fits: (status) => status >= 500 || status === 408, kind: "transient", reason: "ServerError" },
  { fits: (_, codes) => codes.includes("TOOMANYREQUESTS"), kind: "transient", reason: "RateLimited" },
  { fits: (status) => status === 401, kind: "permanent", reason: "Unauthorized" },
  { fits: (status) => status === 403, kind: "permanent", reason: "PushDenied" },
  { fits: (_, codes) => hasAny(codes, DENIED), kind: "permanent", reason: "PushDenied" },
  { fits: (status, codes) => status === 413 || codes.includes("SIZE_INVALID"), kind: "permanent", reason: "TooLarge" },
  // Distribution adds DIGEST_INVALID to the errors for missing parts.
  { fits: (_, codes) => hasAny(codes, PARTS_MISSING), kind: "permanent", reason: "PartsMissing" },
  { fits: (_, codes) => codes.includes("DIGEST_INVALID"), kind: "permanent", reason: "DigestMismatch" },
  { fits: (status) => status === 415 || status === 406, kind: "permanent", reason: "MediaTypeRefused" },
  {
    fits: (status, codes) => [400, 404, 405, 422].includes(status) && hasAny(codes, TYPE_REFUSED),
    kind: "permanent",
    reason: "MediaTypeRefused",
  },
];

export function judgeRefusal({ status, body }: { readonly status: number; readonly body: Uint8Array }): WriteRefusal {
  const faults = parseFaults(body);
  const codes = faults.map(({ code }) => code);
  const row = ROWS.find(({ fits }) => fits(status, codes));
  const { kind, reason } = row ?? { kind: "permanent", reason: "Refused" } as const;
  const texts = faults.map(({ code, message }) => message === "" ? code : `${code}: ${message}`);
  return { kind, reason, says: [String(status), texts.join(", ")].join(" ").trim() };
}

function parseFaults(body: Uint8Array): readonly { readonly code: string; readonly message: string }[] {
  const errors = listAt(parseObject(new TextDecoder().decode(body)), "errors") ?? [];
  return errors.slice(0, MAX_FAULTS).filter(isObject).flatMap((error) => {
    const code = textAt(error, "code").toUpperCase();
    return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? [{ code, message: shown(textAt(error, "message")) }] : [];
  });
}

/** On one line, without anything like the query of a signed URL. */
function shown(message: string): string {
  return message.replaceAll(/[\p{C}\s]+/gu, " ").replaceAll(/\?\S*/g, "?…").trim().slice(0, MAX_MESSAGE);
}

function hasAny(codes: readonly string[], wanted: readonly string[]): boolean {
  return codes.some((code) => wanted.includes(code));
}
