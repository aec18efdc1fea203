// Runs a command to its end and gives what it printed.

export interface CommandOptions {
  readonly cwd?: string | URL | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Standard output of the command. Throws with its standard error when it fails. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env }: CommandOptions = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`Cannot run "${command} ${args.join(" ")}": ${new TextDecoder().decode(stderr).trim()}`);
}
