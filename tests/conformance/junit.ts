// Reads what `deno test --junit-path` wrote. Called by the generator.

/** One test or step that ran. */
export interface RanTest {
  /** Without the names of the tests around a step. */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "ignored";
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

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

/** The test cases of one JUnit document, in its order. */
export function parseJunit(xml: string): readonly RanTest[] {
  const cases = xml.matchAll(/<testcase\b[^>]*?\bname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return [...cases].map(([, name = "", body = ""]) => ({
    name: decode(name).split(" > ").at(-1) ?? "",
    outcome: outcomeOf(body),
  }));
}
