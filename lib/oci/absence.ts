// Whether a registry says that a document is not there. Pure.
// Quay answers 500 for what was deleted, until its own collection.
import { listAt, parseObject, textAt } from "../json.ts";

interface Answer {
  readonly status: number;
  readonly body?: Uint8Array<ArrayBuffer> | undefined;
}

const MAX_ERROR_BYTES = 8_192;

export function isAbsence({ status, body }: Answer): boolean {
  if (status !== 500 || body === undefined) return status === 404;
  const errors = listAt(parseObject(new TextDecoder().decode(body.subarray(0, MAX_ERROR_BYTES))), "errors") ?? [];
  return errors.some((error) => /\b(?:deleted|expired)\b/i.test(textAt(error, "message")));
}

/** Whether an answer may mean absence: that to a HEAD has no body that would say so. A GET has to decide. */
export function mayBeAbsence(
  { status, method }: { readonly status: number; readonly method?: string | undefined },
): boolean {
  return method === "HEAD" && status === 500;
}
