// Starts of a program that fail, each in a container of its own as the kernel sees it: a cgroup with a container's name.
import { pause } from "./wait.ts";

/** bash sees that the file is no text, and does not run it itself. */
const START = 'echo $$ > "$1/cgroup.procs" && exec "$2"';
const AARCH64 = 183;
const S390X = 22;

/** A folder in the unified hierarchy, and a program that this machine cannot execute. */
export class FailingStarts implements AsyncDisposable {
  /** Path of the program. */
  readonly program: string;
  readonly #root: string;

  private constructor(program: string, root: string) {
    this.program = program;
    this.#root = root;
  }

  /** Makes both. */
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

  /** Fails one start in a new container below the folders; gives its ID. */
  async fail(folders: readonly string[]): Promise<string> {
    const id = `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", "");
    const folder = [this.#root, ...folders, id].join("/");
    await Deno.mkdir(folder, { recursive: true });
    const args = ["-c", START, "bash", folder, this.program];
    await new Deno.Command("bash", { args, stdout: "null", stderr: "null" }).output();
    await Deno.remove(folder);
    return id;
  }

  /** Fails many at a steady pace. */
  async failSteadily(
    folders: readonly string[],
    { count, everyMs }: { readonly count: number; readonly everyMs: number },
  ): Promise<readonly string[]> {
    const ids: string[] = [];
    const startedMs = performance.now();
    for (let at = 1; at <= count; at++) {
      ids.push(await this.fail(folders));
      await pause(Math.max(0, startedMs + at * everyMs - performance.now()));
    }
    return ids;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.program);
    await new Deno.Command("find", { args: [this.#root, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"] })
      .output();
  }
}
