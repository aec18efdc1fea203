// The rules of the house, checked against the files themselves: who imports whom, purity, sizes, words.
import assert from "node:assert/strict";
import { dirname, join, normalize, relative } from "node:path";

const ROOT = new URL("../", import.meta.url).pathname;

const VOCABULARY = [
  "lib/names.ts",
  "lib/arch.ts",
  "lib/unreachable.ts",
  "lib/duration.ts",
  ...["types", "reference", "image/manifest", "image/platforms", "errors"].map((name) => `lib/oci/${name}.ts`),
  ...["types", "patch", "errors"].map((name) => `lib/k8s/${name}.ts`),
];
const DOMAIN = ["lib/placement/", "lib/operand/"];
/** Components that put edges and domain together: an informer parses what it watches into words of the domain. */
const ASSEMBLIES = ["lib/playground/", "lib/cli/", "lib/gates/", "lib/informers/"];

type Room = "main" | "routes" | "controllers" | "vocabulary" | "domain" | "assembly" | "edge" | "tests";

function roomOf(file: string): Room {
  if (file === "main.ts" || file.startsWith("serve/")) return "main";
  if (file.startsWith("routes/")) return "routes";
  if (file.startsWith("controllers/")) return "controllers";
  if (file.startsWith("tests/") || file.startsWith("manifests/")) return "tests";
  if (VOCABULARY.includes(file)) return "vocabulary";
  if (DOMAIN.some((folder) => file.startsWith(folder))) return "domain";
  if (ASSEMBLIES.some((folder) => file.startsWith(folder))) return "assembly";
  return "edge";
}

const LIB: readonly Room[] = ["vocabulary", "domain", "edge", "assembly"];
const MAY_IMPORT: Readonly<Record<Room, readonly Room[]>> = {
  main: ["main", "routes", "controllers", ...LIB],
  routes: ["routes", ...LIB],
  controllers: ["controllers", ...LIB],
  assembly: LIB,
  domain: ["domain", "vocabulary"],
  edge: ["edge", "vocabulary"],
  vocabulary: ["vocabulary"],
  tests: ["main", "routes", "controllers", "tests", ...LIB],
};

interface Source {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function readSources(folder: string): readonly Source[] {
  const found: Source[] = [];
  for (const entry of Deno.readDirSync(join(ROOT, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) found.push(...readSources(path));
    else if (/\.tsx?$/.test(entry.name)) found.push(readSource(path));
  }
  return found;
}

function readSource(file: string): Source {
  const text = Deno.readTextFileSync(join(ROOT, file));
  const specifiers = [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g,
    ),
  ];
  return { file, text, imports: specifiers.map(([, a, b, c]) => a ?? b ?? c ?? "") };
}

const PRODUCT = [
  readSource("main.ts"),
  ...["serve", "routes", "controllers", "lib"].flatMap(readSources),
];
const TESTS = readSources("tests");

function localImports(source: Source): readonly string[] {
  return source.imports.filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(".", normalize(join(dirname(source.file), specifier))));
}

function without(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, "");
}

/** Code with comments and string contents gone, so that words in prose do not count. */
function codeOf(source: Source): string {
  const quoted = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
  return without(without(without(source.text, quoted), /\/\*[\s\S]*?\*\//g), /\/\/[^\n]*/g);
}

Deno.test("house: every import goes from a room to one it may enter", () => {
  const wrong: string[] = [];
  for (const source of [...PRODUCT, ...TESTS]) {
    for (const target of localImports(source)) {
      const [from, to] = [roomOf(source.file), roomOf(target)];
      const otherController = from === "controllers" && to === "controllers" &&
        source.file.split("/")[1] !== target.split("/")[1] && source.file !== "controllers/mod.ts";
      if (!MAY_IMPORT[from].includes(to) || otherController) wrong.push(`${source.file} (${from}) → ${target} (${to})`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("house: imports are bare names of deno.json, node: built-ins or files", () => {
  const names = Object.keys(JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).imports);
  const known = (specifier: string): boolean =>
    specifier.startsWith(".") || specifier.startsWith("..") || specifier.startsWith("node:") ||
    names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  const wrong = [...PRODUCT, ...TESTS].flatMap((source) =>
    source.imports.filter((specifier) => !known(specifier)).map((specifier) => `${source.file}: ${specifier}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("house: no import goes round in a circle", () => {
  const graph = new Map(PRODUCT.map((source) => [source.file, localImports(source)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  assert.deepEqual(circles, []);
});

Deno.test("house: domain and vocabulary never touch the world", () => {
  const world =
    /\bawait\b|\basync\b|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bconsole\.|\bDeno\.|\bfetch\(|\brandomUUID\b/;
  const wrong = PRODUCT.filter(({ file }) => ["domain", "vocabulary"].includes(roomOf(file)))
    .flatMap((source) => {
      const found = world.exec(codeOf(source));
      return found === null ? [] : [`${source.file}: ${found[0]}`];
    });
  assert.deepEqual(wrong, []);
});

Deno.test("house: only main reads arguments and environment", () => {
  const wrong = PRODUCT.filter(({ file }) => file !== "main.ts")
    .filter((source) => /\bDeno\.(args|env)\b|\bprocess\.(argv|env)\b/.test(codeOf(source))).map(({ file }) => file);
  assert.deepEqual(wrong, []);
});

Deno.test("house: no module does work on import", async () => {
  // Timers, sockets and files left open by an import fail the sanitizers; what is left to check is the global object.
  const before = new Set(Object.keys(globalThis));
  for (const { file } of PRODUCT.filter(({ file }) => file !== "main.ts")) {
    await import(new URL(`../${file}`, import.meta.url).href);
  }
  const theirs = /^__zod_|^nodeBootstrap$/; // zod's registry, and the runtime's own once a package needs Node's modules
  const added = Object.keys(globalThis).filter((key) => !before.has(key) && !theirs.test(key));
  assert.deepEqual(added, []);
});

Deno.test("house: a source file has at most 300 lines", () => {
  const long = PRODUCT.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > 300);
  assert.deepEqual(long, []);
});

Deno.test("house: forbidden words and forms do not occur", () => {
  const rules: readonly (readonly [string, RegExp])[] = [
    ["any", /\bas any\b|:\s*any\b|<any>/],
    ["non-null assertion", /[A-Za-z_\])]!(?=[.;,)\]\s[])(?!\s*=)/],
    ["default export", /^export default\b/m],
    ["inheritance", /\bclass\s+\w+(?:<[^{]*>)?\s+extends\s+(?!Error\b)/],
    ["silenced check", /@ts-ignore|@ts-expect-error|@ts-nocheck|deno-lint-ignore/],
    ["unfinished work", /\bTODO\b|\bFIXME\b|\bXXX\b/],
  ];
  const wrong = PRODUCT.flatMap((source) =>
    rules.filter(([, pattern]) => pattern.test(codeOf(source)))
      .map(([name]) => `${source.file}: ${name}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("house: file names say what is in them", () => {
  const wrong = PRODUCT.map(({ file }) => file).filter((file) =>
    !/^[a-z0-9_/]+\.tsx?$/.test(file) || /\b(utils?|helpers?|common|base|manager|index)\.tsx?$/.test(file)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("house: everything exported says in a doc comment what it promises", () => {
  const undocumented = PRODUCT.flatMap(({ file, text }) =>
    [...text.matchAll(/^(.*)\n(?:declare )?export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm)]
      .filter(([, before = ""]) => !before.trimEnd().endsWith("*/"))
      .map(([, , name]) => `${file}: ${name}`)
  );
  assert.deepEqual(undocumented, []);
});

Deno.test("house: every file opens with a line that says what it is", () => {
  const silent = PRODUCT.filter(({ text }) => !/^(?:\/\/ \S|\/\*\* @jsx)/.test(text)).map(({ file }) => file);
  assert.deepEqual(silent, []);
});
