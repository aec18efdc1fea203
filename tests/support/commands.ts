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

/** Whether the command is there and ends with 0. */
export async function succeeds(
  command: string,
  args: readonly string[],
  options: Partial<Deno.CommandOptions> = {},
): Promise<boolean> {
  try {
    return (await runToEnd(command, args, options)).code === 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Runs a command to its end on our own streams, and passes the signals on that we get: a supervisor may signal us alone. */
export async function runPassing(
  command: string,
  args: readonly string[],
  options: Partial<Deno.CommandOptions> = {},
): Promise<number> {
  const child = new Deno.Command(command, { ...options, args: [...args] }).spawn();
  const pass = (signal: Deno.Signal) => (): void => {
    try {
      child.kill(signal);
    } catch {
      // Ended already.
    }
  };
  const signals = (["SIGINT", "SIGTERM"] as const).map((signal) => ({ signal, handler: pass(signal) }));
  for (const { signal, handler } of signals) Deno.addSignalListener(signal, handler);
  try {
    return (await child.status).code;
  } finally {
    for (const { signal, handler } of signals) Deno.removeSignalListener(signal, handler);
  }
}

/** Standard output of the command. Throws with its standard error when it fails. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env }: CommandOptions = {},
): Promise<string> {
  const { code, out, err } = await runToEnd(command, args, { ...cwd === undefined ? {} : { cwd }, env: { ...env } });
  if (code === 0) return out;
  throw new Error(`Cannot run "${command} ${args.join(" ")}": ${err.trim()}`);
}
