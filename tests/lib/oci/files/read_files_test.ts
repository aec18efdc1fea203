import assert from "node:assert/strict";
import { FileReader, haveChanged } from "../../../../lib/oci/files/read_files.ts";
import { asParsed } from "../../../../lib/parsed.ts";
import { until } from "../../../support/until.ts";
import { makeFolder } from "../config/planner_support.ts";

Deno.test("haveChanged() notices edits that change neither the length nor the time of a file, once a tick is over", async () => {
  using folder = makeFolder();
  const readers = Array.from({ length: 100 }, (_, number) => {
    const path = folder.write(`${number}`, "first");
    const reader = new FileReader();
    assert.deepEqual(reader.readText(path), asParsed("first"));
    Deno.writeTextFileSync(path, "other");
    return reader;
  });
  await until("all edits noticed", () => readers.every(({ touched }) => haveChanged(touched)));
});

Deno.test("haveChanged() notices nothing where a file is read again after its tick", async () => {
  using folder = makeFolder();
  const path = folder.write("file", "");
  const first = new FileReader();
  first.readText(path);
  await until("another look", () => haveChanged(first.touched));
  const again = new FileReader();
  again.readText(path);
  assert.equal(haveChanged(again.touched), false);
});
