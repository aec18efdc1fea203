// The pages for users: every link leads to a file of the repository, and README stays short.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";

const ROOT = new URL("../..", import.meta.url).pathname;

function pages(): readonly string[] {
  const docs = [...Deno.readDirSync(join(ROOT, "docs"))].map(({ name }) => `docs/${name}`);
  return ["README.md", "manifests/monitoring/runbooks.md", ...docs.filter((name) => name.endsWith(".md"))];
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("every relative link of README.md and docs leads to a file, and every page of docs is reached from README.md", () => {
  const linked = new Set<string>();
  const dead = pages().flatMap((page) => {
    const text = Deno.readTextFileSync(join(ROOT, page));
    const targets = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => join(ROOT, dirname(page), target));
    for (const target of targets) linked.add(target);
    return targets.filter((target) => !isThere(target)).map((target) => `${page}: ${target.slice(ROOT.length)}`);
  });
  assert.deepEqual(dead, []);
  assert.deepEqual(pages().slice(1).filter((page) => !linked.has(join(ROOT, page))), []);
});

Deno.test("README.md has at most 160 lines", () => {
  assert.ok(Deno.readTextFileSync(join(ROOT, "README.md")).split("\n").length <= 161);
});
