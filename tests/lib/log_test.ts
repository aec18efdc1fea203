import assert from "node:assert/strict";
import { errorText } from "../../lib/log.ts";

Deno.test("errorText() gives an error with its causes, and nothing twice", () => {
  const cause = new Error("no such file");
  assert.equal(errorText(new Error("Cannot read it", { cause })), "Cannot read it: no such file");
  assert.equal(
    errorText(new Error("Cannot read it: no such file. Name another.", { cause })),
    "Cannot read it: no such file. Name another.",
  );
  assert.equal(errorText("odd"), "odd");
});
