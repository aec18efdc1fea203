import assert from "node:assert/strict";
import { foldWords } from "../../../lib/config/fold_words.ts";
import { forTerminal, paint, renderColumns, renderTable } from "../../../lib/cli/output.ts";

Deno.test("forTerminal() shows what others have put into a table without what moves a cursor or hides a line", () => {
  const image = "quay.io/x \x1b[2J\x1b]0;owned\x07/y:1";
  const hidden = "ok\r\x1b[K \u009b2J \u202e";
  assert.equal(forTerminal(renderColumns([[image, hidden]])), "quay.io/x ?[2J?]0;owned?/y:1   ok??[K ?2J ?\n");
});

Deno.test("forTerminal() leaves colours, ends of lines and a line that is written over again", () => {
  const text = `\r\x1b[KCopying\n\t${paint("placed", "green")}: ägypten 🚀\n`;
  assert.equal(forTerminal(text), text);
});

Deno.test("renderTable() leaves out the last columns of a table that is too wide, but never the first two", () => {
  const table = (width?: number): readonly string[] =>
    renderTable(["IMAGE", "RUNS ON", "PODS"], [["demo/web:v1", "amd64", "3"]], width).split("\n");
  assert.deepEqual(table(), ["IMAGE         RUNS ON   PODS", "demo/web:v1   amd64     3", ""]);
  assert.deepEqual(table(28), table());
  const narrow = ["IMAGE         RUNS ON", "demo/web:v1   amd64", ""];
  assert.deepEqual([table(27), table(5)], [narrow, narrow]);
});

Deno.test("foldWords() breaks a text between words, and no word", () => {
  assert.deepEqual(foldWords("one two three", 7), ["one two", "three"]);
  assert.deepEqual(foldWords("one quay.io/very/long two", 7), ["one", "quay.io/very/long", "two"]);
  assert.deepEqual(foldWords("one two", Infinity), ["one two"]);
});

Deno.test("renderColumns() keeps a cell that others named in its cell", () => {
  const rows = [["evil\nkube-system/api   ok", "\x1b[32mfine\x1b[0m"], ["b", "c"]];
  assert.deepEqual(renderColumns(rows).split("\n").map((line) => line.split(/ {3,}/).length), [3, 2, 1]);
  assert.ok(!renderColumns(rows).includes("\x1b"));
});
