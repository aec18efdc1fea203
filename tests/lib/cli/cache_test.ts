import assert from "node:assert/strict";
import { runCache } from "../../../lib/cli/cache.ts";
import { ExitCode } from "../../../lib/cli/output.ts";
import { systemClock } from "../../../lib/clock.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { type Ran, recordingTerminal } from "./support.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const LINE = JSON.stringify({
  v: 1,
  image: {
    kind: "platforms",
    depth: "index",
    digest: DIGEST,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: [{ os: "linux", architecture: "arm64" }],
    findings: [],
  },
});

async function run(
  positionals: readonly string[],
  more: { readonly cachePath: string; readonly input?: string },
): Promise<Ran> {
  const { terminal, said } = recordingTerminal();
  const code = await runCache({ positionals, cachePath: more.cachePath, kvUrl: undefined }, {
    terminal,
    clock: systemClock,
    signal: new AbortController().signal,
    input: new Blob([more.input ?? ""]).stream(),
  });
  return { code, ...said };
}

Deno.test("runCache() carries what is known from one file through text to another", async () => {
  await using folder = await temporaryFolder();
  const [first, second] = [`${folder.path}/first.db`, `${folder.path}/second.db`];
  const file = `${folder.path}/cache.ndjson`;
  const imported = await run(["import", "-"], { cachePath: first, input: `${LINE}\nnonsense\n` });
  assert.deepEqual(imported, {
    code: ExitCode.done,
    out: "",
    err: "1 imported, 0 older than known, 1 not understood, 0 not stored\n",
  });
  assert.equal((await run(["export", file], { cachePath: first })).code, ExitCode.done);
  assert.equal((await Deno.stat(file)).mode, 0o100600, "for its owner only");
  assert.equal((await run(["import", file], { cachePath: second })).code, ExitCode.done);
  const exported = await run(["export", "-"], { cachePath: second });
  assert.deepEqual(exported, { code: ExitCode.done, out: `${LINE}\n`, err: "1 exported\n" });
});

Deno.test("runCache() fails and reports why when there is nothing to export from", async () => {
  await using folder = await temporaryFolder();
  const { code, err } = await run(["export", "-"], { cachePath: `${folder.path}/none.db` });
  assert.equal(code, ExitCode.failed);
  assert.match(err, /^archway: Cannot export the cache ".*none\.db": No such file/);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(folder.path)), [], "it makes no file either");
});

Deno.test("runCache() fails when a file to import has no line that is an image", async () => {
  await using folder = await temporaryFolder();
  const { code, err } = await run(["import", "-"], { cachePath: `${folder.path}/a.db`, input: "<html>\n" });
  assert.equal(code, ExitCode.failed);
  assert.match(err, /no line that is of an image/);
});

Deno.test("runCache() fails when the file to import is not there, and an empty one is fine", async () => {
  await using folder = await temporaryFolder();
  const cachePath = `${folder.path}/a.db`;
  const { code, err } = await run(["import", `${folder.path}/none`], { cachePath });
  assert.equal(code, ExitCode.failed);
  assert.match(err, /^archway: Cannot read ".*\/none" to import it: No such file/);
  await assert.rejects(Deno.stat(cachePath), Deno.errors.NotFound, "no cache is made");
  assert.equal((await run(["import", "-"], { cachePath, input: "" })).code, ExitCode.done);
});
