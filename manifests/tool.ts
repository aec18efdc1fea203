// What the tasks of manifests/ share: this checkout, its version, other programs, and how a task ends.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

export const ROOT: string = fileURLToPath(new URL("../", import.meta.url));

export async function readVersion(): Promise<string> {
  return z.object({ version: z.string() }).parse(JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")))).version;
}

/** Runs a program; gives what it printed. Throws with that when it fails. */
export async function runTool(
  command: string,
  args: readonly string[],
  options: Pick<Deno.CommandOptions, "cwd" | "env"> = {},
): Promise<{ readonly out: string; readonly err: string }> {
  const run = new Deno.Command(command, { args: [...args], stdin: "null", ...options });
  const { success, stdout, stderr } = await run.output();
  const [out, err] = [new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)];
  if (!success) throw new Error(`Cannot run "${command} ${args.join(" ")}":\n${err.trim()}`);
  return { out, err };
}

export async function print(text: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(text));
}

/** Runs a task and ends the process with its exit code; a failure is told without its stack, and ends it with 1. */
export async function runTask(task: () => Promise<number | void>): Promise<never> {
  try {
    Deno.exit(await task() ?? 0);
  } catch (error) {
    await Deno.stderr.write(new TextEncoder().encode(`${error instanceof Error ? error.message : String(error)}\n`));
    Deno.exit(1);
  }
}
