import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { renderUngate, runUngate } from "../../../lib/cli/ungate.ts";
import { type KubeApi, withCalls } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { SCHEDULING_GATE as GATE } from "../../../lib/names.ts";
import { openCommandBed, type Ran, recordingTerminal } from "./support.ts";

type Output = "table" | "json" | "yaml";

async function run(
  api: KubeApi,
  options: { readonly dryRun?: boolean; readonly output?: Output; readonly color?: boolean } = {},
): Promise<Pick<Ran, "code" | "out">> {
  const { dryRun = false, output = "table", color = false } = options;
  const { terminal, said } = recordingTerminal({ color });
  const { signal } = new AbortController();
  const code = await runUngate({ api, terminal, signal }, { dryRun, output });
  assert.equal(said.err, "");
  return { code, out: said.out };
}

const GATED = { schedulingGates: [{ name: GATE }] };
const LABELS = { labels: { [GATE]: "gated" } };

Deno.test("runUngate() first reports which pods it would free, then frees them, then finds none", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("web", GATED, LABELS);
  await bed.createPod("db", GATED);
  await bed.createPod("free");
  const dry = await run(bed.api, { dryRun: true });
  assert.deepEqual([dry.code, dry.out.split("\n")], [0, [
    "POD           RESULT          REASON",
    "default/db    would release",
    "default/web   would release",
    "",
    "2 would release, 0 still gated. Pods released by hand may land on nodes that their images do not support.",
    "",
  ]]);
  const real = await run(bed.api);
  assert.equal(real.code, 0);
  assert.match(real.out, /^default\/web {3}released$/m);
  assert.deepEqual(await run(bed.api), { code: 0, out: "No pod holds Archway's gate.\n" });
});

Deno.test("runUngate() returns 1 and prints why when the API server refuses", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("web", GATED, LABELS);
  const refused = new ApiError("pods is forbidden", { status: 403, reason: "Forbidden" });
  const { code, out } = await run(withCalls(bed.api, { patch: () => Promise.reject(refused) }));
  assert.equal(code, 1);
  assert.match(out, /^default\/web {3}still gated {3}pods is forbidden$/m);
  assert.match(out, /^0 released, 1 still gated\. Fix what the reasons name/m);
});

Deno.test("runUngate() prints the same document as JSON and as YAML, and colours nothing", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("web", GATED, LABELS);
  const expected = { dryRun: true, released: ["default/web"], left: [] };
  assert.deepEqual(JSON.parse((await run(bed.api, { dryRun: true, output: "json", color: true })).out), expected);
  assert.deepEqual(parseYaml((await run(bed.api, { dryRun: true, output: "yaml", color: true })).out), expected);
});

Deno.test("renderUngate() lists pods by name whatever the order they were freed in", () => {
  const result = { ungated: ["b/two", "a/one"], left: [] };
  assert.match(renderUngate(result, { dryRun: false }), /a\/one.*\nb\/two/);
});
