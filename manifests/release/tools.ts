// Programs that a release takes and that are not part of Deno.

/** Runs a program; gives what it printed. Throws with that when it fails. */
export async function runTool(command: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], stdin: "null" }).output();
  const [said, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`Cannot run "${command} ${args.join(" ")}":\n${complaint?.trim()}`);
  return `${said}${complaint}`;
}

/** What of these programs is not there, as a reason; undefined when all are. */
export async function lackOf(commands: readonly string[]): Promise<string | undefined> {
  const missing: string[] = [];
  for (const command of commands) if (!await hasTool(command)) missing.push(command);
  return missing.length === 0 ? undefined : `${missing.join(" and ")} not found`;
}

async function hasTool(command: string): Promise<boolean> {
  const found = await new Deno.Command("sh", { args: ["-c", 'command -v "$1"', "sh", command], stdout: "null" })
    .output();
  return found.success;
}
