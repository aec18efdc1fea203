// What a terminal is shown of texts that others have chosen.
import assert from "node:assert/strict";
import { forTerminal, paint, renderColumns } from "../../../lib/cli/output.ts";

Deno.test("forTerminal() shows what others have put into a table without what moves a cursor or hides a line", () => {
  const image = "quay.io/x \x1b[2J\x1b]0;owned\x07/y:1";
  const hidden = "ok\r\x1b[K \u009b2J \u202e";
  assert.equal(forTerminal(renderColumns([[image, hidden]])), "quay.io/x ?[2J?]0;owned?/y:1   ok??[K ?2J ?\n");
});

Deno.test("forTerminal() leaves colours, ends of lines and a line that is written over again", () => {
  const text = `\r\x1b[KCopying\n\t${paint("placed", "green")}: ägypten 🚀\n`;
  assert.equal(forTerminal(text), text);
});
