import assert from "node:assert/strict";
import { followFile, ReportOnce } from "../../../../lib/oci/files/followed_file.ts";
import { asParsed } from "../../../../lib/parsed.ts";
import { keepLog } from "../../../support/logs.ts";
import { temporaryFolder } from "../../../support/temporary_folder.ts";

Deno.test("followFile() logs a fault once, and again when the file was readable in between", async () => {
  await using folder = await temporaryFolder();
  const [path, log] = [`${folder.path}/config.json`, keepLog()];
  const report = new ReportOnce(log);
  const content = followFile({ path, parse: asParsed<string>, empty: "", name: "config", report, onChange: () => {} });
  const said: unknown[] = [];
  for (const text of [undefined, "one", undefined, undefined, "two"]) {
    if (text === undefined) await Deno.remove(path).catch(() => undefined);
    else await Deno.writeTextFile(path, text);
    said.push([content(), log.lines.length]);
  }
  assert.deepEqual(said, [["", 1], ["one", 1], ["", 2], ["", 2], ["two", 2]]);
});
