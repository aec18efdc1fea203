import assert from "node:assert/strict";
import { type HelperCommand, runCommand } from "../../../../lib/oci/credentials/run_command.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";

function shell(script: string, more: Partial<HelperCommand> = {}): HelperCommand {
  const callers = callersOf({ priority: "gated" });
  return { program: "/bin/sh", args: ["-c", script], env: {}, stdin: "line in", timeoutMs: 5_000, callers, ...more };
}

Deno.test("runCommand() gives the line, the environment and the arguments, and answers output and code", async () => {
  const outcome = await runCommand(shell('cat; printf " %s" "$EXTRA"; exit 3', { env: { EXTRA: "value" } }));
  assert.deepEqual(outcome, { kind: "exited", code: 3, stdout: "line in value" });
});

Deno.test("runCommand() kills a helper that takes too long, and does not wait for its children", async () => {
  const outcome = await runCommand(shell("sleep 30 & exec 2>/dev/null; trap '' TERM; sleep 30", { timeoutMs: 100 }));
  assert.deepEqual(outcome, { kind: "failed", message: "took longer than 100 ms" });
});

Deno.test("runCommand() kills a helper that writes too much", async () => {
  const outcome = await runCommand(shell("yes"));
  assert.deepEqual(outcome, { kind: "failed", message: "wrote more than 1 MiB" });
});

Deno.test("runCommand() does not mind a helper that never reads", async () => {
  const outcome = await runCommand(shell("exec 0<&-; echo done", { stdin: "x".repeat(1 << 20) }));
  assert.deepEqual(outcome, { kind: "exited", code: 0, stdout: "done\n" });
});

Deno.test("runCommand() reports when there is no such program", async () => {
  const outcome = await runCommand(shell("", { program: "/nonexistent/helper" }));
  assert.deepEqual(outcome, { kind: "failed", message: "is not there" });
});
