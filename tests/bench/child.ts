// Scripts as processes of their own, so that they take no time from what is measured.

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** What it prints next; empty when it has ended. */
  readLine(): Promise<string>;
  /** Ends its standard input; gives what it prints then. */
  end(): Promise<string>;
}

/** Starts a script, by its path from this folder. */
export function startScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", new URL(script, import.meta.url).pathname, ...args],
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let isEnded = false;
  const readLine = async (): Promise<string> => (await lines.read()).value?.trim() ?? "";
  const endInput = async (): Promise<void> => {
    if (isEnded) return;
    isEnded = true;
    await child.stdin.close();
  };
  return {
    pid: child.pid,
    readLine,
    end: async () => {
      await endInput();
      return await readLine();
    },
    [Symbol.asyncDispose]: async () => {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await endInput().catch(() => {});
      await lines.cancel();
      await child.status;
    },
  };
}
