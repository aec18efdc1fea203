// The JSON of an answer, checked against the shape that it must have.
import type * as z from "zod";
import type { UpstreamAnswer } from "./upstream.ts";
import { upstreamError } from "./upstream_error.ts";

/** The value of an answer's body. Throws UpstreamError (`malformed`) that names the place where the shape is another. */
export function readJson<T>(answer: UpstreamAnswer, schema: z.ZodType<T>): T {
  const { name, status } = answer;
  const parsed = schema.safeParse(jsonOf(answer));
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
  const state = `its answer is not what it must be${place === "" ? "" : ` (at ${place.slice(0, 80)})`}`;
  throw upstreamError(name, { fault: "malformed", status, state });
}

function jsonOf({ text, name, status }: UpstreamAnswer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw upstreamError(name, { fault: "malformed", status, state: "its answer is no JSON" });
  }
}
