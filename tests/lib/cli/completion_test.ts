// What a shell offers after a part of a command, asked of bash itself.
import assert from "node:assert/strict";
import { renderCompletion } from "../../../lib/cli/completion.ts";
import { COMMANDS, FLAGS } from "../../../lib/config/flags.ts";

function offers(words: readonly string[]): readonly string[] {
  const script = `${renderCompletion("bash")}
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _archway
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout } = new Deno.Command("bash", { args: ["-c", script, "bash", ...words] }).outputSync();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout).split("\n").filter(Boolean);
}

const CASES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ["archway up", ["upgrade"]],
  ["archway in", ["inspect", "index"]],
  ["archway upgrade s", ["status", "suspend"]],
  ["archway ungate --d", ["--dry-run"]],
  ["archway dev --scenario ta", ["taints"]],
  ["archway serve --scen", []],
];

for (const [line, offered] of CASES) {
  Deno.test(`completion of \`${line}\``, () => assert.deepEqual(offers(line.split(" ")), offered));
}

Deno.test("every shell's script has every command and every flag", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = renderCompletion(shell);
    for (const name of [...COMMANDS, ...FLAGS.map((flag) => flag.name)]) {
      assert.ok(script.includes(name), `${shell} ${name}`);
    }
  }
});
