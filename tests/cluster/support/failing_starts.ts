// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name.
import { pause } from "./wait.ts";

/** bash sees that the file is no text, and does not run it itself. */
const START = 'echo $$ > "$1/cgroup.procs" && exec "$2"';
const AARCH64 = 183;
const S390X = 22;

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

/** A folder in the unified hierarchy, and a program that this machine cannot execute. */
export class FailingStarts implements AsyncDisposable {
  readonly program: string;
  readonly #root: string;

  private constructor(program: string, root: string) {
    this.program = program;
    this.#root = root;
  }

  static async open(): Promise<FailingStarts> {
    const program = await Deno.makeTempFile({ prefix: "archway-foreign-" });
    const machine = Deno.build.arch === "aarch64" ? S390X : AARCH64;
    const header = new Uint8Array(128);
    header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
    header.set([2, 0, machine], 16);
    await Deno.writeFile(program, header);
    await Deno.chmod(program, 0o755);
    const unified = "/sys/fs/cgroup/unified";
    const hierarchy = await Deno.stat(unified).then(() => unified, () => "/sys/fs/cgroup");
    const root = `${hierarchy}/archway-failing-${crypto.randomUUID()}`;
    await Deno.mkdir(root);
    return new FailingStarts(program, root);
  }

  async fail(folders: readonly string[]): Promise<string> {
    return await failStart([this.#root, ...folders].join("/"), this.program);
  }

  async failSteadily(
    folders: readonly string[],
    pace: Pace,
  ): Promise<readonly string[]> {
    return await steadily(pace, () => this.fail(folders));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.program);
    await new Deno.Command("find", { args: [this.#root, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"] })
      .output();
  }
}
