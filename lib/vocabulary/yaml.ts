// Parses YAML from outside into plain values. Messages of faults never quote the text, which may hold passwords.
import { parseDocument } from "yaml";
import { asParsed, type Parsed, unparsable } from "../parsed.ts";

/** The parser takes quadratic time for many keys and for open quotes: half a second for this many characters. */
const MAX_LENGTH = 1 << 16;
const MAX_ALIASES = 20;

/** Parses one YAML (or JSON) document. A bomb of aliases is a fault, not a hang. */
export function parseYaml(text: string): Parsed<unknown> {
  if (text.length > MAX_LENGTH) return unparsable("larger than 64 KiB");
  try {
    const document = parseDocument(text, { prettyErrors: true, logLevel: "silent" });
    const [error] = document.errors;
    if (error === undefined) return asParsed<unknown>(document.toJS({ maxAliasCount: MAX_ALIASES }));
    return unparsable(`not YAML: ${error.code.toLowerCase().replaceAll("_", " ")}`, error.linePos?.[0].line);
  } catch {
    // Aliases beyond the limit throw; so does nesting that overflows the stack.
    return unparsable("nested too deeply or with too many aliases");
  }
}
