// The pages for users: every link leads to a file and a heading of the repository, and they stay few and short.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandsOf, shellBlocksOf } from "./support/page_commands.ts";
import { PARTS } from "./run/parts.ts";

const ROOT = new URL("..", import.meta.url).pathname;
/** Written by `deno task figures`. */
const GENERATED = "docs/figures.md";
const MOST = { pages: 12, words: 25_000, readme: 950, cell: 90, item: 60, sentence: 15 } as const;

function docs(): readonly string[] {
  return [...Deno.readDirSync(join(ROOT, "docs"))].map(({ name }) => `docs/${name}`).filter((name) =>
    name.endsWith(".md")
  );
}

function pages(): readonly string[] {
  const monitoring = ["runbooks", "metrics"].map((name) => `manifests/monitoring/${name}.md`);
  return [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "tests/README.md",
    "tests/conformance/differences.md",
    ...monitoring,
    ...docs(),
  ];
}

function read(page: string): string {
  return Deno.readTextFileSync(join(ROOT, page));
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => {
      const slug = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim().toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}

interface Link {
  readonly page: string;
  readonly target: string;
  readonly anchor: string;
}

function linksOf(page: string): readonly Link[] {
  return [...read(page).matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)]
    .filter(([, target = ""]) => !/^[a-z]+:/.test(target))
    .map(([, target = "", anchor = ""]) => ({
      page,
      target: target === "" ? page : join(dirname(page), target),
      anchor,
    }));
}

/** Words, as readers count them: what has a letter or a digit. */
function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

Deno.test("every relative link of the pages leads to a file and its heading, and every page of docs is reached", () => {
  const links = pages().flatMap(linksOf);
  const dead = links.filter(({ target, anchor }) =>
    !existsSync(join(ROOT, target)) || (target.endsWith(".md") && anchor !== "" && !anchorsOf(read(target)).has(anchor))
  );
  assert.deepEqual(dead, []);
  const linked = new Set(links.filter(({ page, target }) => page !== target).map(({ target }) => target));
  assert.deepEqual(docs().filter((page) => !linked.has(page)), []);
});

Deno.test("docs has at most twelve pages and 25,000 words beside the generated page", () => {
  const written = docs().filter((page) => page !== GENERATED);
  assert.ok(written.length <= MOST.pages, written.join());
  const counts = written.map((page) => [page, countWords(read(page))] as const);
  const sum = counts.reduce((words, [, count]) => words + count, 0);
  assert.ok(sum <= MOST.words, `${sum} words: ${JSON.stringify(counts)}`);
});

/** Each item of a list, without what is below it. */
function itemsOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
  return [...prose.matchAll(/^( *)(?:[-*]|\d+\.) (.*(?:\n\1 +(?![-*] |\d+\. )\S.*)*)/gm)].map(([, , item = ""]) =>
    item
  );
}

Deno.test("no item of a list has more than sixty words", () => {
  const written = ["README.md", ...docs().filter((page) => page !== GENERATED)];
  const long = written.flatMap((page) => itemsOf(read(page)).filter((item) => countWords(item) > MOST.item));
  assert.deepEqual(long.map((item) => `${countWords(item)}: ${item.slice(0, 80)}`), []);
});

/** The sentences of paragraphs and items; a link counts by its text. */
function sentencesOf(text: string): readonly string[] {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "\n").replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/^(?: *\||#+ |!\[).*$/gm, "\n").split(/\n\s*\n|\n(?= *(?:[-*]|\d+\.) )|(?<=[.?!])\s+/)
    .filter((sentence) => countWords(sentence) > 0);
}

Deno.test("the sentences of a page have at most fifteen words on average", () => {
  const written = ["README.md", "CONTRIBUTING.md", "tests/README.md", ...docs().filter((page) => page !== GENERATED)];
  const averages = written.map((page) => {
    const counts = sentencesOf(read(page)).map(countWords);
    return [page, counts.reduce((words, count) => words + count, 0) / counts.length] as const;
  });
  assert.deepEqual(averages.filter(([, average]) => average > MOST.sentence), []);
});

Deno.test("README.md is read in three minutes: 950 words, no long cell of a table", () => {
  const readme = read("README.md");
  assert.ok(readme.split(/\s+/).filter((word) => word !== "").length <= MOST.readme);
  const cells = readme.split("\n").filter((line) => line.startsWith("|")).flatMap((line) => line.split("|"))
    .map((cell) => cell.trim());
  assert.deepEqual(cells.filter((cell) => cell.length > MOST.cell), []);
});

Deno.test("README.md and docs/install.md uninstall with the same commands, in one order", () => {
  const commands = commandsOf(read("docs/install.md"), "**Uninstall**, in this order");
  assert.deepEqual(commands.map((command) => command.split(" ")[2]), [
    ...["podplacementconfigs", "clusterpodplacementconfig", "-f"],
  ]);
  assert.equal(shellBlocksOf(read("README.md"), "Uninstall"), `${commands.join(" &&\n")}\n`);
});

Deno.test("deno test without arguments runs the parts of the unit tests that need no permissions", () => {
  const { test } = JSON.parse(read("deno.json"));
  const parts = PARTS.unit.filter(({ permissions }) => permissions === "none");
  assert.deepEqual(test.include, parts.flatMap(({ paths }) => paths));
});
