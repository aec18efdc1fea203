// All that is wrong with an object in one message.
import type { z } from "zod";
import { type Unparsable, unparsable } from "../../parsed.ts";

const MAX_PROBLEMS = 10;

/** The message: places and what is expected there, never a value. */
export function problemsOf(what: string, { issues }: z.ZodError): Unparsable {
  const lines = issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  const more = issues.length > MAX_PROBLEMS ? `; and ${issues.length - MAX_PROBLEMS} more` : "";
  return unparsable(`Cannot read ${what}: ${lines.join("; ")}${more}.`);
}
