// The runtime of the image: one version for every architecture, and another is refused wherever it can be detected.
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../manifests/image/compile.ts";
import {
  findRuntime,
  findVersions,
  NATIVE,
  nativeOf,
  parsePin,
  readPinnedDeno,
  refusalOf,
  variableOf,
} from "../../manifests/image/runtime.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const FOREIGN = NATIVE === "arm64" ? "amd64" : "arm64";
const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A file that says it is this version, by what it prints and by what is in it. */
async function inFile(texts: readonly string[], work: (...files: readonly string[]) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  const files = texts.map((_, at) => join(folder.path, String(at)));
  for (const [at, text] of texts.entries()) await Deno.writeTextFile(files[at] ?? "", text, { mode: 0o755 });
  await work(...files);
}

Deno.test("the Containerfile pins the version of Deno that README names, and labels the image with it", async () => {
  const pinned = await readPinnedDeno();
  assert.match(pinned, /^\d+\.\d+\.\d+$/);
  const readme = (await Deno.readTextFile(join(ROOT, "README.md"))).replaceAll(/\s+/g, " ");
  assert.ok(readme.includes(`nothing but Deno ${pinned}`) && readme.includes(`The image holds Deno ${pinned}`));
  const containerfile = await Deno.readTextFile(join(ROOT, "manifests", "image", "Containerfile"));
  const [bundle = ""] = containerfile.split(/^FROM /m).filter((stage) => stage.startsWith("base AS bundle"));
  assert.match(bundle, /^ARG DENO_VERSION\nLABEL dev\.archway\.deno="\$\{DENO_VERSION\}"$/m);
  assert.throws(() => parsePin("FROM scratch\n"), /no ARG DENO_VERSION/);
});

Deno.test("nativeOf() lets the Deno of a machine into the image only where it is a program of Linux", () => {
  assert.equal(nativeOf({ os: "linux", arch: "x86_64" }), "amd64");
  assert.equal(nativeOf({ os: "linux", arch: "aarch64" }), "arm64");
  for (const os of ["darwin", "windows"] as const) {
    for (const arch of ["x86_64", "aarch64"] as const) assert.equal(nativeOf({ os, arch }), undefined, os);
  }
});

Deno.test("findVersions() finds what a Deno calls itself, and no version that it quotes", () => {
  const table: readonly (readonly [program: string, versions: readonly string[]])[] = [
    ["\0o/2.9.6Deno/2.9.6+e518fbd\0Deno/2.9.6", ["2.9.6"]],
    ["Deno/0.80.0 Deno/10.11.12", ["10.11.12"]],
    ["Deno/2.9.6 Deno/2.9.60", ["2.9.6", "2.9.60"]],
    ["deno/2.9.6 Deno/x Deno/", []],
    ["", []],
  ];
  for (const [program, versions] of table) assert.deepEqual(findVersions(encode(program)), versions, program);
  // A view into a larger buffer has only its own part.
  assert.deepEqual(findVersions(encode("Deno/1.2.3 Deno/4.5.6").subarray(11)), ["4.5.6"]);
});

Deno.test("findVersions() tells the version of the Deno that runs this", async () => {
  assert.deepEqual(findVersions(await Deno.readFile(Deno.execPath())), [Deno.version.deno]);
});

Deno.test("refusalOf() refuses another version, and lets pass what does not say", () => {
  const given = { variable: "DENO_BIN_ARM64" };
  assert.equal(refusalOf({ ...given, versions: ["2.9.6"] }, "2.9.6"), undefined);
  assert.equal(refusalOf({ ...given, versions: [] }, "2.9.6"), undefined);
  assert.equal(
    refusalOf({ ...given, versions: ["2.9.60"] }, "2.9.6"),
    "Cannot build: DENO_BIN_ARM64 names Deno 2.9.60, and the image has 2.9.6, the same for every architecture",
  );
});

Deno.test("findRuntime() takes a foreign Deno by what is in it, and refuses one of another version", () =>
  inFile(["\x7fELF Deno/2.9.6", "\x7fELF Deno/2.9.5", "no name"], async (right = "", wrong = "", silent = "") => {
    const find = (given: string | undefined) => findRuntime(FOREIGN, { given, pinned: "2.9.6" });
    assert.equal(await find(right), right);
    assert.equal(await find(silent), silent);
    await assert.rejects(find(wrong), { message: new RegExp(`${variableOf(FOREIGN)} names Deno 2\\.9\\.5,`) });
  }));

Deno.test("findRuntime() asks a native Deno itself", async () => {
  const script = (version: string): string => `#!/bin/sh\n# Deno/7.7.7\necho "deno ${version} (stable)"\n`;
  const texts = [script("2.9.6"), script("2.9.5"), "neither a program nor a script, Deno/2.9.5"];
  await inFile(texts, async (right = "", wrong = "", broken = "") => {
    for (const architecture of NATIVE === undefined ? [] : [NATIVE]) {
      const find = (given: string | undefined) => findRuntime(architecture, { given, pinned: "2.9.6" });
      assert.equal(await find(right), right);
      for (const file of [wrong, broken]) {
        await assert.rejects(find(file), { message: new RegExp(`${variableOf(architecture)} names Deno 2\\.9\\.5,`) });
      }
    }
  });
});

Deno.test("findRuntime() without a Deno takes the pinned one, for the other architecture out of npm's package", async () => {
  const pinned = await readPinnedDeno();
  const file = await findRuntime(FOREIGN, { given: undefined, pinned });
  assert.deepEqual(findVersions(await Deno.readFile(file)), [pinned]);
});
