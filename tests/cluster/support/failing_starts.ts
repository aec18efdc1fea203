// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name.
import { pause } from "./wait.ts";

/** bash sees that the file is no text, and does not run it itself. */
const START = 'echo $$ > "$1/cgroup.procs" && exec "$2"';

export interface Pace {
  readonly count: number;
  readonly everyMs: number;
}

/** Fails one start of a program in a new container below a folder of cgroups; gives the container's ID. */
export async function failStart(pod: string, program: string): Promise<string> {
  const id = `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", "");
  const folder = `${pod}/${id}`;
  await Deno.mkdir(folder, { recursive: true });
  const args = ["-c", START, "bash", folder, program];
  await new Deno.Command("bash", { args, stdout: "null", stderr: "null" }).output();
  await Deno.remove(folder);
  return id;
}

export async function steadily<T>({ count, everyMs }: Pace, act: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  const startedMs = performance.now();
  for (let at = 1; at <= count; at++) {
    results.push(await act());
    await pause(Math.max(0, startedMs + at * everyMs - performance.now()));
  }
  return results;
}
