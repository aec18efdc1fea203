// The rules of the architecture, checked against the files themselves: layers, purity, sizes, words.
import assert from "node:assert/strict";
import { dirname, join, normalize, relative } from "node:path";
import { RETENTION } from "../lib/k8s/retention.ts";
import { Resource } from "../lib/k8s/types.ts";

const ROOT = new URL("../", import.meta.url).pathname;

const VOCABULARY = [
  "lib/vocabulary/",
  "lib/upgrades/names.ts",
  "lib/upgrades/decide/types/",
  "lib/config/image_builds.ts",
  ...["names", "arch", "parsed", "json"].map((name) => `lib/${name}.ts`),
  ...["inspection", "reference", "host_names", "image/manifest", "image/platforms", "errors"].map((name) =>
    `lib/oci/${name}.ts`
  ),
  ...["types", "patch", "api_error"].map((name) => `lib/k8s/${name}.ts`),
];
/** What decides, in each capability. */
const DOMAIN = [/^lib\/\w+\/decide\//];
/** Components that put edges and domain together: they read and write the cluster, or speak to others. */
const ASSEMBLIES = [
  /^lib\/\w+\/(?:cluster|outside|daemon|assemble)\//,
  /^lib\/cli\//,
  /^lib\/builds\/metrics\.ts$/,
];

/** What any controller may import besides its own folder. */
const SHARED_BY_CONTROLLERS = ["controllers/controller.ts", "controllers/config_conditions.ts"];

type Layer = "main" | "routes" | "controllers" | "playground" | "vocabulary" | "domain" | "assembly" | "edge" | "tests";

function layerOf(file: string): Layer {
  // What is imported as text imports nothing.
  if (!/\.tsx?$/.test(file)) return "vocabulary";
  if (file === "main.ts" || file.startsWith("serve/")) return "main";
  if (file.startsWith("routes/")) return "routes";
  if (file.startsWith("controllers/")) return "controllers";
  if (file.startsWith("tests/") || file.startsWith("manifests/")) return "tests";
  if (file.startsWith("playground/")) return "playground";
  if (VOCABULARY.some((path) => file.startsWith(path))) return "vocabulary";
  if (DOMAIN.some((pattern) => pattern.test(file))) return "domain";
  if (ASSEMBLIES.some((pattern) => pattern.test(file))) return "assembly";
  return "edge";
}

const LIB: readonly Layer[] = ["vocabulary", "domain", "edge", "assembly"];
const MAY_IMPORT: Readonly<Record<Layer, readonly Layer[]>> = {
  main: ["main", "routes", "controllers", "playground", ...LIB],
  routes: ["routes", ...LIB],
  controllers: ["controllers", ...LIB],
  playground: ["playground", ...LIB],
  assembly: LIB,
  domain: ["domain", "vocabulary"],
  edge: ["edge", "vocabulary"],
  vocabulary: ["vocabulary"],
  tests: ["main", "routes", "controllers", "playground", "tests", ...LIB],
};

interface Source {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function readSources(folder: string): readonly Source[] {
  return [...Deno.readDirSync(join(ROOT, folder))].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return readSources(path);
    return /\.tsx?$/.test(name) ? [readSource(path)] : [];
  });
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
  ...["serve", "routes", "controllers", "lib", "playground"].flatMap(readSources),
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

/** A rule with what breaks it, which must be nothing. */
function rule(title: string, broken: () => readonly unknown[]): void {
  Deno.test(`architecture: ${title}`, () => assert.deepEqual(broken(), []));
}

/** The lines of the product that are so, each behind its file. */
function linesThat(isWrong: (line: string) => boolean): readonly string[] {
  return PRODUCT.flatMap(({ file, text }) => text.split("\n").filter(isWrong).map((line) => `${file}: ${line.trim()}`));
}

rule(
  "every import goes from a layer to one that it may import",
  () =>
    [...PRODUCT, ...TESTS].flatMap((source) =>
      localImports(source).flatMap((target) => {
        const [from, to] = [layerOf(source.file), layerOf(target)];
        const otherController = from === "controllers" && to === "controllers" &&
          source.file.split("/")[1] !== target.split("/")[1] &&
          !SHARED_BY_CONTROLLERS.includes(target);
        return MAY_IMPORT[from].includes(to) && !otherController
          ? []
          : [`${source.file} (${from}) → ${target} (${to})`];
      })
    ),
);

rule("imports are bare names of deno.json, node: built-ins or files", () => {
  const names = Object.keys(JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).imports);
  const known = (specifier: string): boolean =>
    specifier.startsWith("./") || specifier.startsWith("../") || specifier.startsWith("node:") ||
    names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return [...PRODUCT, ...TESTS].flatMap((source) =>
    source.imports.filter((specifier) => !known(specifier)).map((specifier) => `${source.file}: ${specifier}`)
  );
});

/** Edges between the direct children (files and folders) of a folder: `lib/` has `oci`, `k8s`, `names.ts`… */
function childGraph(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const childOf = (file: string): string => file.slice(folder.length).split("/")[0] ?? "";
  const graph = new Map<string, Set<string>>();
  for (const source of PRODUCT.filter(({ file }) => file.startsWith(folder))) {
    const from = childOf(source.file);
    const targets = localImports(source).filter((target) => target.startsWith(folder)).map(childOf);
    graph.set(from, new Set([...graph.get(from) ?? [], ...targets.filter((target) => target !== from)]));
  }
  return graph;
}

function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(" → "));
    if (done.has(node) || path.includes(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

rule(
  "no import goes round in a circle",
  () => circlesOf(new Map(PRODUCT.map((source) => [source.file, new Set(localImports(source))]))),
);

rule("no folder imports another that imports it, at any level", () => {
  const folders = new Set(PRODUCT.flatMap(({ file }) => {
    const parts = file.split("/").slice(0, -1);
    return ["", ...parts.map((_, at) => `${parts.slice(0, at + 1).join("/")}/`)];
  }));
  return [...folders].flatMap((folder) => circlesOf(childGraph(folder)).map((circle) => `${folder || "."}: ${circle}`));
});

rule("domain and vocabulary are pure", () => {
  const impure =
    /\bawait\b|\basync\b|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bconsole\.|\bDeno\.|\bfetch\(|\brandomUUID\b/;
  return PRODUCT.filter(({ file }) => ["domain", "vocabulary"].includes(layerOf(file)))
    .flatMap((source) => (impure.exec(codeOf(source)) ?? []).map((found) => `${source.file}: ${found}`));
});

/** What is loaded with a file at once; `await import` comes later. */
function staticImports({ file, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:^|\n)(?:import|export)\b(?! type)[^;'"]*?from\s*["'](\.[^"']+)["']/g)];
  return specifiers.map(([, specifier = ""]) => relative(".", normalize(join(dirname(file), specifier))));
}

Deno.test("architecture: plain serve loads nothing of upgrades and image builds", () => {
  const byFile = new Map(PRODUCT.map((source) => [source.file, source]));
  const loaded = new Set<string>();
  const open = ["main.ts", "serve/serve.ts", "serve/placement.ts"];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const source = byFile.get(file);
    if (source === undefined || loaded.has(file)) continue;
    loaded.add(file);
    open.push(...staticImports(source));
  }
  assert.ok(loaded.size > 20);
  const optional = /^(?:playground|(?:lib|controllers)\/(?:upgrades|builds))\//;
  assert.deepEqual([...loaded].filter((file) => optional.test(file)), []);
});

rule("only main reads arguments and environment", () =>
  PRODUCT.filter(({ file }) => file !== "main.ts")
    .filter((source) => /\bDeno\.(args|env)\b|\bprocess\.(argv|env)\b/.test(codeOf(source))).map(({ file }) => file));

Deno.test("architecture: no module does work on import", async () => {
  // Timers, sockets and files left open by an import fail the sanitizers; what is left to check is the global object.
  const before = new Set(Object.keys(globalThis));
  for (const { file } of PRODUCT.filter(({ file }) => file !== "main.ts")) {
    await import(new URL(`../${file}`, import.meta.url).href);
  }
  const theirs = /^__zod_|^nodeBootstrap$/; // zod's registry, and the runtime's own once a package needs Node's modules
  const added = Object.keys(globalThis).filter((key) => !before.has(key) && !theirs.test(key));
  assert.deepEqual(added, []);
});

rule(
  "a source file has at most 300 lines",
  () =>
    PRODUCT.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 })).filter(({ lines }) => lines > 300),
);

const INDENT = /^ */;

/**
 * The functions of a formatted file, by indentation: one begins at a line whose block opens with a function's head and ends
 * at the next closing brace of the same indentation. Nested ones count for themselves and within the outer one.
 */
function functionsOf(text: string): readonly { readonly name: string; readonly lines: number }[] {
  const lines = text.split("\n");
  const indentOf = (line: string): number => INDENT.exec(line)?.[0].length ?? 0;
  const blocks = /^(?:\} )?(?:if|for|while|switch|catch|else|do|try|class|interface)\b/;
  return lines.flatMap((line, at) => {
    const opening = line.trim();
    if (!opening.endsWith("{")) return [];
    const indent = indentOf(line);
    let start = at;
    // The head may span lines: its first one has the same indentation.
    while (start > 0 && (/^[)}]/.test(lines[start]?.trim() ?? "") || indentOf(lines[start] ?? "") > indent)) start--;
    const head = lines[start]?.trim() ?? "";
    const isFunction = opening.endsWith("=> {") || /^(?:export )?(?:async )?function\b/.test(head) ||
      (!blocks.test(head) && /^(?:readonly |static |async |get |set |\*)*[#\w[\].]+(?:<[^(]*>)?\(/.test(head) &&
        /\)(?:: .+)? \{$/.test(opening));
    if (!isFunction) return [];
    const length = lines.slice(at + 1).findIndex((next) => indentOf(next) === indent && next.trim().startsWith("}"));
    return [{ name: head, lines: at - start + length + 2 }];
  });
}

rule(
  "a function has at most 40 lines",
  () =>
    PRODUCT.flatMap(({ file, text }) =>
      functionsOf(text).filter(({ lines }) => lines > 40).map(({ name, lines }) => `${file}: ${name} (${lines} lines)`)
    ),
);

rule("comments cite nothing that is not in the repository, and do not say who calls", () => {
  const forbidden =
    /(?<!RFC \d{4} )§|\bspec \d|\bby main\b|\bin main\b|\b(?:opened|called|used|run|read|asked|mounted|applied) (?:once )?by [\w/]*(?:main|serve|controllers|routes|\.tsx?)\b|\b(?:called|used|put into|written) (?:by|for|inside|the page by) (?:the parsers|the REST|lib\/|\w+\.tsx?|\w+\.json \()|\bthe reference's?\b(?= (?:operator|controller|webhook|posts|does|tried))/i;
  return linesThat((line) => /(?:^|\s)\/\/|^\s*\/?\*/.test(line) && forbidden.test(line));
});

/** The bracket that each `...` stands directly in: `[` in lists, `{` in objects, `(` in calls and parameter lists. */
function bracketsOfSpreads(code: string): readonly string[] {
  const open: string[] = [];
  return [...code.matchAll(/\.\.\.|[[\]{}()]/g)].flatMap(([token]) => {
    if (token === "...") return [open.at(-1) ?? ""];
    if ("[{(".includes(token)) open.push(token);
    else open.pop();
    return [];
  });
}

rule(
  "serve/ names every dependency where it is passed: it spreads lists, never objects or arguments",
  () =>
    PRODUCT.filter(({ file }) => file.startsWith("serve/"))
      .filter((source) => bracketsOfSpreads(codeOf(source)).some((bracket) => bracket !== "["))
      .map(({ file }) => file),
);

rule("forbidden words and forms do not occur", () => {
  const rules: readonly (readonly [string, RegExp])[] = [
    ["any", /\bas any\b|:\s*any\b|<any>/],
    ["non-null assertion", /[A-Za-z_\])]!(?=[.;,)\]\s[])(?!\s*=)/],
    ["default export", /^export default\b/m],
    ["inheritance", /\bclass\s+\w+(?:<[^{]*>)?\s+extends\s+(?!Error\b)/],
  ];
  const ofComments: typeof rules = [
    ["silenced check", /@ts-ignore|@ts-expect-error|@ts-nocheck|deno-lint-ignore/],
    ["unfinished work", /\bTODO\b|\bFIXME\b|\bXXX\b/],
  ];
  const breaks = (text: string, some: typeof rules): readonly string[] =>
    some.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  return PRODUCT.flatMap((source) =>
    [...breaks(codeOf(source), rules), ...breaks(source.text, ofComments)].map((name) => `${source.file}: ${name}`)
  );
});

rule(
  "file names say what is in them",
  () =>
    PRODUCT.map(({ file }) => file).filter((file) =>
      !/^[a-z0-9_/]+\.tsx?$/.test(file) || /\b(utils?|helpers?|common|base|manager|index)\.tsx?$/.test(file)
    ),
);

rule("no doc comment says no more than the name", () => {
  const filler =
    /\/\*\* (?:(?:Makes|Opens|Creates|Registers|Renders|Reads|Runs) (?:it|them|one)|What (?:it|they|is|one) (?:needs?|takes?|is (?:made|opened) with|works? with)|One of \{@link \w+\}|Time|The \w+|An? \w+)\. \*\//;
  return linesThat((line) => filler.test(line));
});

rule(
  "every file opens with a line that says what it is",
  () => PRODUCT.filter(({ text }) => !/^(?:\/\/ \S|\/\*\* @jsx)/.test(text)).map(({ file }) => file),
);

/** The arguments of every call of a function, by the file: from its bracket to the one that closes it. */
function callsOf(name: string): readonly { readonly file: string; readonly text: string }[] {
  return PRODUCT.flatMap(({ file, text }) =>
    [...text.matchAll(new RegExp(`(?<!function )\\b${name}(?:<[^(]*>)?\\(`, "g"))].map(({ index, 0: head }) => {
      let depth = 1;
      let end = index + head.length;
      for (; depth > 0 && end < text.length; end++) depth += text[end] === "(" ? 1 : text[end] === ")" ? -1 : 0;
      return { file, text: text.slice(index, end) };
    })
  );
}

Deno.test("architecture: every reflector retains by a row of RETENTION, and every row is of one", () => {
  const calls = callsOf("new Reflector");
  assert.ok(calls.length > 15);
  const without = calls.filter(({ text }) => !/\bretain: (?:\{ \.\.\.)?(?:[A-Z]+_)*RETENTION\b/.test(text));
  assert.deepEqual(without, []);
  const used = PRODUCT.filter(({ file }) => file !== "lib/k8s/retention.ts")
    .flatMap(({ text }) => [...text.matchAll(/\bRETENTION\.(\w+)/g)].map(([, row]) => row));
  assert.deepEqual([...new Set(used)].sort(), Object.keys(RETENTION).sort());
});

rule(
  "a reflector of what tenants may create in any namespace has shares, or keeps nothing",
  () =>
    callsOf("new Reflector").flatMap(({ file, text }) => {
      const type = Object.entries(Resource).find(([name]) => text.includes(`resource: Resource.${name},`))?.[1];
      const [name, row] = Object.entries(RETENTION).find(([name]) => text.includes(`RETENTION.${name}`)) ?? [];
      const isNarrow = type?.namespaced !== true || /^ *namespace[,:]/m.test(text);
      return isNarrow || row?.kind !== "all" || name === "taintPods" ? [] : [file];
    }),
);

Deno.test("architecture: what tenants make has shares of memory that fit into half of the heap of the Deployment together", () => {
  const deployment = Deno.readTextFileSync(join(ROOT, "manifests/base/deployment.yaml"));
  const heapMib = Number(/--max-old-space-size=(\d+)/.exec(deployment)?.[1]);
  const rows = Object.values(RETENTION).filter((row) => row.kind === "shares");
  assert.deepEqual(rows.filter(({ maxPerNamespace, maxTotal }) => maxPerNamespace > maxTotal / 2), []);
  // One of the five kinds of templates is counted already; the weight of DaemonSets is in KiB.
  const others = 4 * RETENTION.templates.maxTotal + 1_023 * RETENTION.taintDaemonSets.maxTotal;
  const sum = rows.reduce((bytes, { maxTotal }) => bytes + maxTotal, others);
  assert.ok(sum <= heapMib * 1024 * 1024 / 2, `${Math.round(sum / 1024 / 1024)} MiB`);
});

rule("the map has every folder of lib/", () => {
  const page = Deno.readTextFileSync(join(ROOT, "docs/architecture.md"));
  const map = page.split("\n## Map\n")[1]?.split("\n## ")[0] ?? "";
  return [...Deno.readDirSync(join(ROOT, "lib"))].filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => `lib/${name}/`).filter((folder) => !map.includes(`\`${folder}`));
});
