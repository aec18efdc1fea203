import assert from "node:assert/strict";
import { join } from "node:path";
import { FLAGS } from "../../lib/config/flags.ts";
import { locatePage, PAGES, withTables } from "../../manifests/generate/tables.ts";
import { listFiles } from "./sources.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  "kubectl": [
    "all",
    "for",
    "force-conflicts",
    "from-file",
    "from-literal",
    "ignore-not-found",
    "overrides",
    "overwrite",
    "replicas",
    "resource",
    "resource-name",
    "role",
    "server-side",
    "serviceaccount",
    "timeout",
    "type",
    "verb",
  ],
  "oc": ["all-containers"],
  "kube-apiserver": ["admission-control-config-file"],
  "helm": ["set", "version"],
  "kubectl krew": ["archive", "manifest"],
  "npx": ["yes"],
  "buildah": ["file", "tag"],
  "docker buildx create": ["use"],
  "kubectl create secret": ["docker-password", "docker-server", "docker-username"],
  "deno test": ["filter"],
  "deno task image": ["arch", "form", "name", "permissions", "push"],
  "deno task release": ["arch", "base", "complete", "install-only", "plain-http", "registry", "unrecorded"],
  "deno task bench:cluster": ["only"],
  "a digest writer of image builds": ["configmap-name", "digestfile", "labels"],
  "deno task bench:growth": ["large"],
  "deno task figures": ["mto"],
  "deno task bundle": ["image", "bundle-image"],
  "deno task soak": ["minutes"],
  "deno task test": ["strict"],
  "deno task test:e2e": ["image", "run"],
};

/** What stands for a flag: any, and several with one beginning. */
const STAND_INS = ["flag"];

for (const page of PAGES) {
  Deno.test(`docs/${page} has the tables of today`, async () => {
    const text = await Deno.readTextFile(locatePage(page));
    assert.ok(text === withTables(page, text), "run `deno task tables`");
  });
}

/** The pages for users whole, of the code its comments. */
function texts(): readonly (readonly [file: string, text: string])[] {
  const docs = [...Deno.readDirSync(join(ROOT, "docs"))].map(({ name }) => `docs/${name}`);
  const pages = ["README.md", ...docs.filter((name) => name.endsWith(".md"))];
  const code = listFiles(join(ROOT, "lib")).map((file) => file.slice(ROOT.length));
  const comments = (text: string): string => (text.match(/^\s*(?:\/\/|\/\*\*|\*).*$|\s\/\/ .*$/gm) ?? []).join("\n");
  const read = (file: string): string => Deno.readTextFileSync(join(ROOT, file));
  return [
    ...pages.map((file) => [file, read(file)] as const),
    ...code.map((file) => [file, comments(read(file))] as const),
  ];
}

Deno.test("README.md, docs and the comments of lib name only flags that exist", () => {
  const known = new Set([...FLAGS.map(({ name }) => name), "help", ...STAND_INS, ...Object.values(FOREIGN).flat()]);
  const unknown = texts().flatMap(([file, text]) =>
    [...text.matchAll(/(?<![\w-])--([a-z][a-z\d]*(?:-[a-z\d]+)*)/g)]
      .map(([, name = ""]) => name).filter((name) => !known.has(name)).map((name) => `${file}: --${name}`)
  );
  assert.deepEqual(unknown, []);
});
