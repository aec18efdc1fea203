// Reads what `deno test --junit-path` wrote.

export interface RanTest {
  /** Without the names of the tests around a step. */
  readonly name: string;
  /** The test file, from the root of the repository; empty where the document names none. Of a step that of its test. */
  readonly file: string;
  readonly isStep: boolean;
  readonly outcome: "passed" | "failed" | "ignored";
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
const TESTCASE = /<testcase\b[^>]*?\bname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    return ENTITIES[name] ?? whole;
  });
}

function outcomeOf(body: string): RanTest["outcome"] {
  if (/<(?:failure|error)\b/.test(body)) return "failed";
  return /<skipped\b/.test(body) ? "ignored" : "passed";
}

/** A test, with the name of the test that it is a step of, or its own. */
interface Case extends RanTest {
  readonly test: string;
}

function parseSuite(head: string, body: string): readonly Case[] {
  const [, suite = ""] = /\bname="([^"]*)"/.exec(head) ?? [];
  return [...body.matchAll(TESTCASE)].map(([, name = "", content = ""]) => {
    const path = decode(name).split(" > ");
    return {
      test: path[0] ?? "",
      name: path.at(-1) ?? "",
      file: decode(suite).replace(/^\.\//, ""),
      isStep: path.length > 1,
      outcome: outcomeOf(content),
    };
  });
}

/** The test cases of one JUnit document, in its order. Deno puts a step into the suite of the file whose code made it. */
export function parseJunit(xml: string): readonly RanTest[] {
  const suites = [...xml.matchAll(/<testsuite\b([^>]*)>([\s\S]*?)<\/testsuite>/g)];
  const cases = suites.length === 0
    ? parseSuite("", xml)
    : suites.flatMap(([, head = "", body = ""]) => parseSuite(head, body));
  const fileOf = new Map(cases.filter(({ isStep }) => !isStep).map(({ name, file }) => [name, file]));
  return cases.map(({ test, ...one }) => ({ ...one, file: fileOf.get(test) ?? one.file }));
}
