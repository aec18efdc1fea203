// TOML, YAML and JSON texts to plain values. The message of a fault never quotes the text, which may hold passwords.
import { parse as parseTomlText, TomlError } from "smol-toml";
import { parseDocument } from "yaml";
import { asParsed, type Parsed, unparsable } from "../parsed.ts";

/** Largest configuration file that is read. */
export const MAX_DOCUMENT_BYTES = 1 << 20;

/** YAML's parser takes time with the square of the text where keys are many or quotes do not end: half a second at this size. */
const MAX_YAML_BYTES = 1 << 16;
const MAX_DEPTH = 100;
const MAX_ALIASES = 20;

/** Parses TOML 1.0. */
export function parseToml(text: string): Parsed<unknown> {
  return parseSafely(text, () => {
    try {
      return asParsed<unknown>(parseTomlText(text, { maxDepth: MAX_DEPTH }));
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [reason = ""] = error.message.replace("Invalid TOML document: ", "").split("\n");
      return unparsable(`not TOML: ${reason}`, error.line);
    }
  });
}

/** Parses one YAML (or JSON) document. A bomb of aliases is a fault, not a hang. */
export function parseYaml(text: string): Parsed<unknown> {
  if (text.length > MAX_YAML_BYTES) return unparsable("larger than 64 KiB");
  return parseSafely(text, () => {
    const document = parseDocument(text, { prettyErrors: true, logLevel: "silent" });
    const [error] = document.errors;
    if (error !== undefined) {
      return unparsable(`not YAML: ${error.code.toLowerCase().replaceAll("_", " ")}`, error.linePos?.[0].line);
    }
    return asParsed<unknown>(document.toJS({ maxAliasCount: MAX_ALIASES }));
  });
}

/** Parses JSON. */
export function parseJson(text: string): Parsed<unknown> {
  return parseSafely(text, () => {
    try {
      return asParsed<unknown>(JSON.parse(text));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return describeJsonFault(error.message);
    }
  });
}

/** The engine's words and line. A message with a quotation mark quotes the text, and has no line either. */
function describeJsonFault(message: string): Parsed<unknown> {
  if (message.includes('"')) return unparsable("not JSON: unexpected token");
  const [, words, line] = /^(.+?)(?: in JSON)? at position \d+ \(line (\d+) column \d+\)$/.exec(message) ?? [];
  if (words === undefined) {
    return unparsable(`not JSON: ${message.endsWith("end of JSON input") ? "it ends too early" : "syntax error"}`);
  }
  return unparsable(`not JSON: ${words.toLowerCase()}`, Number(line));
}

/** Deep nesting overflows the stack of a recursive parser; aliases beyond the limit throw. Both are faults of the text. */
function parseSafely(text: string, parse: () => Parsed<unknown>): Parsed<unknown> {
  if (text.length > MAX_DOCUMENT_BYTES) return unparsable("larger than 1 MiB");
  try {
    return parse();
  } catch {
    return unparsable("nested too deeply or with too many aliases");
  }
}
