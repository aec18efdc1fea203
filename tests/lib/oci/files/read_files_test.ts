import assert from "node:assert/strict";
import { FileReader, haveChanged } from "../../../../lib/oci/files/read_files.ts";
import { until } from "../../../support/until.ts";

Deno.test("haveChanged() notices edits that change neither the length nor the time of a file, once a tick is over", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const readers = Array.from({ length: 100 }, (_, number) => {
      const path = `${folder}/${number}`;
      Deno.writeTextFileSync(path, "first");
      const reader = new FileReader();
      assert.deepEqual(reader.readText(path), { kind: "text", text: "first" });
      Deno.writeTextFileSync(path, "other");
      return reader;
    });
    await until("all edits noticed", () => readers.every(({ touched }) => haveChanged(touched)));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("haveChanged() notices nothing where a file is read again after its tick", async () => {
  const path = Deno.makeTempFileSync();
  try {
    const first = new FileReader();
    first.readText(path);
    await until("another look", () => haveChanged(first.touched));
    const again = new FileReader();
    again.readText(path);
    assert.equal(haveChanged(again.touched), false);
  } finally {
    Deno.removeSync(path);
  }
});
