// What the tests say about rows without being run: the names that they give themselves when loaded, and the literals of
// their sources, where the names of steps are.
import { join } from "node:path";
import * as z from "zod";
import { parseClaim } from "./claims.ts";

export const PAGE: string = new URL("../conformance.md", import.meta.url).pathname;

/** The committed record of the run that the page is made of. */
export const RECORD: string = new URL("run.json", import.meta.url).pathname;

const LISTER = new URL("list_tests.ts", import.meta.url).pathname;

/** String and template literals that hold no quotes of their own kind: enough for the names of steps. */
const LITERAL = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g;
const HOLE = /\$\{[^{}]*\}/;

export function listFiles(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory) return listFiles(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

let names: Promise<ReadonlySet<string>> | undefined;

/** The names of all tests that would run, listed once a process. Rejects when a test file cannot be loaded. */
export function listTestNames(): Promise<ReadonlySet<string>> {
  return names ??= loadTestNames();
}

async function loadTestNames(): Promise<ReadonlySet<string>> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-check", "--unstable-kv", LISTER],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot list the tests: ${new TextDecoder().decode(stderr)}`);
  return new Set(z.array(z.string()).parse(JSON.parse(new TextDecoder().decode(stdout))));
}

/**
 * Says of a name whether a literal of these sources is it, or becomes it when its holes are filled; the ids that fill a
 * hole must be literals as well.
 */
export function matchLiterals(sources: readonly string[]): (name: string) => boolean {
  const literals = sources.flatMap((text) =>
    [...text.matchAll(LITERAL)].map(([, quoted, open]) => quoted ?? open ?? "")
  );
  const plain = new Set(literals);
  const patterns = [...plain].filter((text) => HOLE.test(text) && isTelling(text)).map(patternOf);
  const claimed = new Set([...plain].flatMap((text) => /\d/.test(text) ? parseClaim(text).ids : []));
  return (name) =>
    plain.has(name) ||
    patterns.some((pattern) => pattern.test(name)) && parseClaim(name).ids.every((id) => claimed.has(id));
}

/** Two words of its own: less would match about anything. */
function isTelling(template: string): boolean {
  return template.split(HOLE).join("").trim().split(/\s+/).length >= 2;
}

function patternOf(template: string): RegExp {
  const parts = template.split(HOLE).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
