// The table of flags as a whole: how many there are, and that tests use those of the other commands. Every flag of `serve`
// has a check of its effect in tests/serve/flag_effects_test.ts.
import assert from "node:assert/strict";
import { environmentName, type Flag, FLAGS } from "../../../lib/config/flags.ts";

const TESTS = new URL("../../", import.meta.url);
const MAX_SERVE_FLAGS = 28;

/** The text of all tests but those of the command line itself, which show no effect. */
function readTests(folder: URL): string {
  return [...Deno.readDirSync(folder)].map((entry) => {
    const path = new URL(entry.name + (entry.isDirectory ? "/" : ""), folder);
    if (entry.isDirectory) return path.pathname.endsWith("/tests/lib/config/") ? "" : readTests(path);
    return /\.tsx?$/.test(entry.name) ? Deno.readTextFileSync(path) : "";
  }).join("\n");
}

Deno.test(`serve has at most ${MAX_SERVE_FLAGS} flags`, () => {
  const names = FLAGS.filter(({ commands }) => commands.includes("serve")).map(({ name }) => name);
  assert.ok(names.length <= MAX_SERVE_FLAGS, `${names.length}: ${names.join(" ")}`);
});

Deno.test("each flag of the other commands occurs in a test besides those of the command line", () => {
  const text = readTests(TESTS);
  const isUsed = ({ name, short }: Flag): boolean =>
    new RegExp(`--${name}\\b(?!-)`).test(text) || text.includes(environmentName(name)) ||
    text.includes(`"-${short}"`);
  const others = FLAGS.filter(({ commands }) => !commands.includes("serve"));
  assert.ok(others.length > 5);
  assert.deepEqual(others.filter((flag) => !isUsed(flag)).map(({ name }) => name), []);
});
