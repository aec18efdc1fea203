// Whether a registry says that a document is not there. Pure. Quay answers 500 for a deleted document until it is
// collected.
import { listAt, parseObject, textAt } from "../../json.ts";

/** `possible`: the answer to a HEAD has no body that would say so. A GET has to decide. */
export type Absence = "stated" | "possible";

const MAX_ERROR_BYTES = 8_192;

export function absenceOf({ status, method, body }: {
  readonly status: number;
  readonly method: string;
  readonly body: Uint8Array<ArrayBuffer>;
}): Absence | undefined {
  if (status !== 500) return status === 404 ? "stated" : undefined;
  if (method === "HEAD") return "possible";
  const errors = listAt(parseObject(new TextDecoder().decode(body.subarray(0, MAX_ERROR_BYTES))), "errors") ?? [];
  return errors.some((error) => /\b(?:deleted|expired)\b/i.test(textAt(error, "message"))) ? "stated" : undefined;
}
