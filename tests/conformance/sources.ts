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
/** The name of a step where it is made, and names in tables that begin with the id of a row: a bare number may mean anything there. */
const STEP = new RegExp(
  `(?:\\bstep\\(\\s*(?:\\{\\s*name:\\s*)?|\\bname:\\s*(?=["\`][A-Z]+\\d*-\\d))(?:${LITERAL.source})`,
  "g",
);

export function listFiles(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory) return listFiles(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** What stands in a page under this heading. */
export function sectionOf(page: string, heading: string): string {
  const [, level = ""] = /^(#+) /.exec(heading) ?? [];
  return page.split(`\n${heading}\n`)[1]?.split(`\n${level} `)[0] ?? "";
}

/** The cells of the rows of a section's tables whose first cell is code. */
export function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  return sectionOf(page, heading).split("\n").filter((line) => line.startsWith("| `")).map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

export interface ListedTest {
  readonly name: string;
  /** Its whole path. */
  readonly file: string;
}

const LISTED = z.array(z.strictObject({ name: z.string(), file: z.string() }).readonly()).readonly();

let listed: Promise<readonly ListedTest[]> | undefined;

/** All tests that would run, listed once a process. Rejects when a test file cannot be loaded. */
export function listTests(): Promise<readonly ListedTest[]> {
  return listed ??= loadTests();
}

export async function listTestNames(): Promise<ReadonlySet<string>> {
  return new Set((await listTests()).map(({ name }) => name));
}

async function loadTests(): Promise<readonly ListedTest[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-check", "--unstable-kv", LISTER],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot list the tests: ${new TextDecoder().decode(stderr)}`);
  return LISTED.parse(JSON.parse(new TextDecoder().decode(stdout)));
}

/** The names of steps that stand in a source, the holes of templates unfilled. Names that are made elsewhere are not among them. */
export function stepsIn(text: string): readonly string[] {
  return [...text.matchAll(STEP)].map(([, quoted, open]) => (quoted ?? open ?? "").replaceAll(/\\(.)/g, "$1"));
}

/** Whether the name is this one of a source, its holes filled. */
export function isFilled(name: string, written: string): boolean {
  return name === written || HOLE.test(written) && patternOf(written).test(name);
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
