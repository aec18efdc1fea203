import assert from "node:assert/strict";
import { openImageBed } from "../../../support/image_bed.ts";
import { failureIn } from "../../../support/inspectors.ts";

const IMAGE = "registry.example/app:1";

Deno.test("inspect() names pull secrets that are of no use where the registry requires a login, and there alone", async () => {
  const unusable = ["a (not found)", "b (not found)", "c (not found)", "d (not found)"];
  const bed = openImageBed({ pull: () => ({ credentials: [], unusable }) });
  bed.registry.private.add(IMAGE);
  const use = { image: IMAGE, pullsAlways: false };
  const { message } = failureIn(await bed.inspect(use));
  assert.equal(message, "Cannot read it: 401. Pull secrets of no use: a (not found), b (not found), c (not found), ….");
  bed.registry.private.clear();
  bed.registry.failure = { kind: "permanent", reason: "ManifestUnknown", message: "gone" };
  assert.equal(failureIn(await bed.inspect({ ...use, image: "registry.example/other:1" })).message, "gone");
});
