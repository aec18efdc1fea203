import assert from "node:assert/strict";
import { foldWords } from "../../../lib/config/fold_words.ts";
import {
  foldLines,
  forTerminal,
  type OutputFormat,
  paint,
  print,
  renderColumns,
  renderRows,
  renderTable,
} from "../../../lib/cli/output.ts";
import { recordingTerminal } from "./support.ts";

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

Deno.test("foldWords() breaks a text between words, and a word where it is longer than the line", () => {
  assert.deepEqual(foldWords("one two three", 7), ["one two", "three"]);
  assert.deepEqual(foldWords("one quay.io/very/long two", 8), ["one", "quay.io/", "very/", "long two"]);
  assert.deepEqual(foldWords("one supercalifragilistic two", 10), ["one", "supercalif", "ragilistic", "two"]);
  assert.deepEqual(foldWords("one two", Infinity), ["one two"]);
});

Deno.test("renderColumns() keeps a cell that others named in its cell", () => {
  const rows = [["evil\nkube-system/api   ok", "\x1b[32mfine\x1b[0m"], ["b", "c"]];
  assert.deepEqual(renderColumns(rows).split("\n").map((line) => line.split(/ {3,}/).length), [3, 2, 1]);
  assert.ok(!renderColumns(rows).includes("\x1b"));
});

Deno.test("renderTable() folds the cells of a table that is too wide, the widest first, before a column is left out", () => {
  const header = ["POD", "IMAGES", "WHY"];
  const row = ["shop/web", "quay.io/team/web:v1, quay.io/team/side:v2", "all of them have amd64 alone in common"];
  assert.deepEqual(renderTable(header, [row], 64).split("\n"), [
    "POD        IMAGES                      WHY",
    "shop/web   quay.io/team/web:v1,        all of them have amd64",
    "           quay.io/team/side:v2        alone in common",
    "",
  ]);
  assert.deepEqual(renderTable(header, [row], 42).split("\n")[0], "POD        IMAGES");
  assert.deepEqual(renderRows(header, [row, ["b", "", ""]], 64).map((text) => text.split("\n").length), [2, 3, 2]);
});

Deno.test("renderTable() folds names only where no other column can give way", () => {
  const name = "Deployment openshift-node-tuning/cluster-node-tuning-operator";
  const lines = renderTable(["WORKLOAD", "WHY"], [[name, "quay.io/openshift/tuned:v4 has amd64"]], 60).split("\n");
  assert.deepEqual(lines, [
    "WORKLOAD                           WHY",
    "Deployment                         quay.io/openshift/tuned:",
    "openshift-node-tuning/cluster-     v4 has amd64",
    "node-tuning-operator",
    "",
  ]);
});

Deno.test("foldLines() goes on below, indented, whatever colours a line has, and cuts what is written over again", () => {
  assert.equal(foldLines("  Next: do what it says\nok\n", 14), "  Next: do\n    what it\n    says\nok\n");
  const red = paint("x".repeat(10), "red");
  assert.equal(foldLines(red, 10), red);
  assert.equal(foldLines("\r\x1b[Kreport: 1 of 3 images", 12), "\r\x1b[Kreport: ");
  assert.equal(foldLines("one two three"), "one two three");
});

Deno.test("print() gives the text for the width of the terminal, or the document as it is", () => {
  const printed = (output: OutputFormat): string => {
    const { terminal, said } = recordingTerminal({ color: false, columns: 20 });
    const text = (width?: number): string => `as wide as ${width} columns\n`;
    print(terminal, output, { document: { long: "a long text that is not folded" }, text });
    return said.out;
  };
  assert.equal(printed("table"), "as wide as 20\n  columns\n");
  assert.deepEqual(JSON.parse(printed("json")), { long: "a long text that is not folded" });
  assert.equal(printed("yaml"), "long: a long text that is not folded\n");
});
