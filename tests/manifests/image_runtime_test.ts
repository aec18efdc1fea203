import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../manifests/tool.ts";
import { findPinned, parsePin, readPinnedDeno } from "../../manifests/image/runtime.ts";

Deno.test("the Containerfile pins the version of Deno that README names, and labels the image with it", async () => {
  const pinned = await readPinnedDeno();
  assert.match(pinned, /^\d+\.\d+\.\d+$/);
  const readme = (await Deno.readTextFile(join(ROOT, "README.md"))).replaceAll(/\s+/g, " ");
  assert.ok(readme.includes(`needs git and Deno ${pinned}`));
  const containerfile = await Deno.readTextFile(join(ROOT, "manifests", "image", "Containerfile"));
  const [bundle = ""] = containerfile.split(/^FROM /m).filter((stage) => stage.startsWith("base AS bundle"));
  assert.match(bundle, /^ARG DENO_VERSION\nLABEL dev\.archway\.deno="\$\{DENO_VERSION\}"$/m);
  assert.throws(() => parsePin("FROM scratch\n"), /no ARG DENO_VERSION/);
});

Deno.test("findPinned() takes the pinned Deno for another architecture out of npm's package", async () => {
  const pinned = await readPinnedDeno();
  const file = await findPinned(Deno.build.arch === "aarch64" ? "linux-amd64" : "linux-arm64", pinned);
  assert.ok(new TextDecoder("latin1").decode(await Deno.readFile(file)).includes(`Deno/${pinned}`));
});
