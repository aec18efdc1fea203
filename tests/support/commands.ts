// Runs a command to its end and gives what it printed.

export interface CommandOptions {
  readonly cwd?: string | URL | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How a command ended: its exit code, what it printed on each stream, and both together. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly said: string;
}

/** Runs the command to its end, however that is. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  options: Partial<Deno.CommandOptions> = {},
): Promise<Ended> {
  const started = new Deno.Command(command, { ...options, args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await started.output();
  const [out, err] = [new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)];
  return { code, out, err, said: out + err };
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
