// docs/configuration.md against the table of flags.
import assert from "node:assert/strict";
import { PAGE, withTable } from "../../manifests/generate/flags.ts";

Deno.test("docs/configuration.md has the flags of today", async () => {
  const page = await Deno.readTextFile(PAGE);
  assert.ok(page === withTable(page), "run `deno task flags`");
});
