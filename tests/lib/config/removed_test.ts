import assert from "node:assert/strict";
import { COMMANDS, environmentName, FLAGS } from "../../../lib/config/flags.ts";
import { FILE_SETTINGS } from "../../../lib/config/file.ts";
import { parseConfig } from "../../../lib/config/parse.ts";
import { REMOVED_COMMANDS, REMOVED_FLAGS } from "../../../lib/config/environment.ts";

function problemsOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const parsed = parseConfig(args, { env, readFile: () => "" });
  return parsed.kind === "usage" ? parsed.problems : [];
}

for (const [name, advice] of Object.entries(REMOVED_FLAGS)) {
  Deno.test(`--${name} and its variable are refused in one line that says what replaces them`, () => {
    assert.equal(FLAGS.some((flag) => flag.name === name), false);
    for (const command of COMMANDS) {
      const found = problemsOf([command, `--${name}=a`]).filter((problem) => problem.includes(`--${name}`));
      assert.deepEqual(found, [`Cannot use "--${name}" with ${command}: it was removed. ${advice}`]);
    }
    const variable = environmentName(name);
    assert.deepEqual(problemsOf(["serve"], { [variable]: "a" }), [`Cannot use ${variable}: it was removed. ${advice}`]);
    assert.deepEqual(problemsOf(["serve"], { [variable]: "" }), []);
    assert.match(advice, /^[A-Z][^\n]+\.$/);
  });
}

for (const [name, advice] of Object.entries(REMOVED_COMMANDS)) {
  Deno.test(`the command ${name} is refused in one line that says what replaces it`, () => {
    for (const args of [[name, "--dry-run"], [name, "--help"], ["help", name]]) {
      assert.deepEqual(problemsOf(args), [`Cannot run "${name}": it was removed. ${advice}`]);
    }
  });
}

for (const { key } of FILE_SETTINGS) {
  Deno.test(`the variable of the setting ${key} is refused, and the message says where it belongs`, () => {
    const name = environmentName(key.replaceAll(/[A-Z]/g, (letter) => `-${letter}`));
    const [problem = "", ...more] = problemsOf(["serve"], { [name]: "a" });
    assert.deepEqual(more, []);
    assert.ok(
      problem.startsWith(`Cannot use ${name}: `) && problem.includes(key) && problem.includes("--config"),
      problem,
    );
  });
}
