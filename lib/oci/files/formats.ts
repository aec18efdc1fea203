// Parses TOML and JSON to plain values. A fault never quotes the text, which may hold passwords.
import { parse as parseTomlText, TomlError } from "smol-toml";
import type * as z from "zod";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";

const MAX_LENGTH = 1 << 20;

export function parseToml(text: string): Parsed<unknown> {
  return parseSafely(text, () => {
    try {
      return asParsed<unknown>(parseTomlText(text));
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [reason = ""] = error.message.replace("Invalid TOML document: ", "").split("\n");
      return unparsable(`not TOML: ${reason}`, error.line);
    }
  });
}

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

/** The engine's message and line. A message with a quotation mark quotes the text: it is replaced and has no line. */
function describeJsonFault(message: string): Parsed<unknown> {
  if (message.includes('"')) return unparsable("not JSON: unexpected token");
  const [, words, line] = /^(.+?)(?: in JSON)? at position \d+ \(line (\d+) column \d+\)$/.exec(message) ?? [];
  if (words === undefined) {
    return unparsable(`not JSON: ${message.endsWith("end of JSON input") ? "it ends too early" : "syntax error"}`);
  }
  return unparsable(`not JSON: ${words.toLowerCase()}`, Number(line));
}

/** Parses a document by a schema. The first issue becomes the fault, at the line of its key. */
export function parseAs<T>(
  schema: z.ZodType<T>,
  document: Parsed<unknown>,
  text: string,
  says: (path: string) => string = () => "a value of a wrong kind",
): Parsed<T> {
  if (document.kind === "unparsable") return document;
  const parsed = schema.safeParse(document.value);
  if (parsed.success) return asParsed(parsed.data);
  const path = parsed.error.issues[0]?.path.map(String) ?? [];
  const key = path.findLast((part) => !/^\d+$/.test(part)) ?? "";
  const isJson = text.trimStart().startsWith("{");
  return unparsable(says(path.join(".")), findLine(text, isJson && key !== "" ? `"${key}"` : key));
}

/** The first line with this text, to locate a fault that was found after parsing. */
export function findLine(text: string, needle: string): number | undefined {
  const at = needle === "" ? -1 : text.indexOf(needle);
  return at < 0 ? undefined : text.slice(0, at).split("\n").length;
}

/** Deep nesting overflows the stack of a recursive parser. */
function parseSafely(text: string, parse: () => Parsed<unknown>): Parsed<unknown> {
  if (text.length > MAX_LENGTH) return unparsable("larger than 1 MiB");
  try {
    return parse();
  } catch {
    return unparsable("nested too deeply");
  }
}
