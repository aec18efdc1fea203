// bpftrace as a child process, and what it needs of the node.
import type { TraceDeps, TraceProcess } from "./bpftrace.ts";
import type { TraceParts } from "./trace_faults.ts";
import { type CgroupLayout, cgroupLayoutOf, TRACE_ENVIRONMENT } from "./trace_script.ts";

/** Where Debian's package and the image have it. */
const BPFTRACE = "/usr/bin/bpftrace";

/** Longest line that is read; bpftrace prints none over a kilobyte. */
const MAX_LINE = 65_536;
/** What is kept of its standard error. */
const MAX_STDERR = 8_192;
/** Longest orderly end after SIGTERM (ms): the maps are printed and the probes let go. */
const GRACE_MS = 2_000;

const TRACEFS = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/** This machine, as a trace needs it. */
export const systemTracer: Pick<TraceDeps, "start" | "readParts" | "readLayout"> = {
  start: spawnBpftrace,
  readParts: readTraceParts,
  readLayout: readCgroupLayout,
};

/** Starts it with a script. It gets nothing of our environment. */
function spawnBpftrace(script: string): TraceProcess {
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
      // It has ended.
    }
  };
  const stop = (): void => {
    signal("SIGTERM");
    kill ??= setTimeout(() => signal("SIGKILL"), GRACE_MS);
  };
  return { lines: linesOf(child.stdout), ended, stop };
}

/** The lines of a stream; one that is too long is cut. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
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

/** What this node has of what a trace needs. */
async function readTraceParts(): Promise<TraceParts> {
  const events = await Promise.all(TRACEFS.map((folder) => exists(`${folder}/events`)));
  const calls = await Promise.all(TRACEFS.map((folder) => exists(`${folder}/events/syscalls/sys_exit_execve/id`)));
  return {
    hasTypes: await exists("/sys/kernel/btf/vmlinux"),
    hasTracefs: events.includes(true),
    hasSystemCallEvents: calls.includes(true),
  };
}

/** How this node mounts its cgroups. */
async function readCgroupLayout(): Promise<CgroupLayout> {
  return cgroupLayoutOf(await Deno.readTextFile("/proc/self/cgroup"));
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
