// Runs bpftrace as a child process. Its errors say what the node lacks: this program itself may not read /sys.
import type { TraceProcess } from "./bpftrace.ts";
import { TRACE_ENVIRONMENT } from "./trace_script.ts";

/** Where Debian's package and the image have it. */
const BPFTRACE = "/usr/bin/bpftrace";

/** Longest line that is read; bpftrace prints none over a kilobyte. */
const MAX_LINE = 65_536;
/** Characters that are kept of its standard error. */
const MAX_STDERR = 8_192;
/** Time (ms) between SIGTERM and SIGKILL, in which bpftrace prints its maps and detaches its probes. */
const GRACE_MS = 2_000;

/** Runs a script. The process gets nothing of our environment. */
export function spawnBpftrace(script: string): TraceProcess {
  const child = new Deno.Command(BPFTRACE, {
    args: ["-f", "json", "-B", "line", "-e", script],
    clearEnv: true,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...TRACE_ENVIRONMENT },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stderr = readEnd(child.stderr);
  let kill: ReturnType<typeof setTimeout> | undefined;
  const ended = child.status.then(async ({ code }) => {
    clearTimeout(kill);
    return { code, stderr: await stderr };
  });
  const signal = (name: Deno.Signal): void => {
    try {
      child.kill(name);
    } catch {
      // The process has ended already.
    }
  };
  const stop = (): void => {
    signal("SIGTERM");
    kill ??= setTimeout(() => signal("SIGKILL"), GRACE_MS);
  };
  return { lines: linesOf(child.stdout), ended, stop };
}

/** The lines of a stream; one that is too long is cut. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(0, MAX_LINE);
    yield* parts;
  }
  if (rest !== "") yield rest;
}

async function readEnd(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text = (text + decoder.decode(chunk, { stream: true })).slice(-MAX_STDERR);
  return text;
}
