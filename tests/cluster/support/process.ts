// A child process of a test: output to a file, readiness by polling, a sure end.
import { archwayProgram } from "../../support/archway_program.ts";
import { GiveUp, type WaitOptions, waitUntil } from "./wait.ts";

export interface ProcessOptions {
  /** Name for messages; the log is `<directory>/<name>.log`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Directory of the log; must exist. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

// The shell opens the log (appending, so a restart keeps earlier lines) and prints its pid. setpriv makes the kernel kill the
// child when its parent ends, even by SIGKILL; where it is missing (not Linux), only orderly ends are covered.
const LAUNCH = `log=$1; shift; exec >>"$log" 2>&1
if command -v setpriv >/dev/null 2>&1 && setpriv --pdeathsig KILL true 2>/dev/null
then exec setpriv --pdeathsig KILL -- "$@"; else exec "$@"; fi`;

/** A machine that is busy with other tests takes its time. */
const START_MS = 90_000;

/** Whether this is answered well. */
export async function isOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.ok;
}

/** `archway ARGS…` as a child process; resolves when its admin port says that it is ready, and ends it where that does not come. */
export async function startArchway(
  args: readonly string[],
  { adminPort, ...options }: Pick<ProcessOptions, "name" | "directory" | "env"> & { readonly adminPort: number },
): Promise<RunningProcess> {
  const [command, ...leading] = archwayProgram("all");
  const own = [...leading, ...args, `--admin-listen=127.0.0.1:${adminPort}`];
  await using undo = new AsyncDisposableStack();
  const archway = undo.use(RunningProcess.start({ ...options, command, args: own }));
  await archway.waitReady(() => isOk(`http://127.0.0.1:${adminPort}/readyz`));
  undo.move();
  return archway;
}

/** A running child. Dispose (or stop) it: SIGTERM, and SIGKILL after the grace time. */
export class RunningProcess implements AsyncDisposable {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number;
  readonly ended: Promise<Deno.CommandStatus>;
  readonly #child: Deno.ChildProcess;
  #status: Deno.CommandStatus | undefined;

  private constructor(name: string, logFile: string, child: Deno.ChildProcess) {
    this.name = name;
    this.logFile = logFile;
    this.pid = child.pid;
    this.#child = child;
    this.ended = child.status.then((status) => this.#status = status);
  }

  /** Starts the child; it may end at once, which {@link waitReady} reports with the end of its log. */
  static start({ name, command, args, directory, env = {}, cwd }: ProcessOptions): RunningProcess {
    const logFile = `${directory}/${name}.log`;
    const child = new Deno.Command("sh", {
      args: ["-c", LAUNCH, "sh", logFile, command, ...args],
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    return new RunningProcess(name, logFile, child);
  }

  get isAlive(): boolean {
    return this.#status === undefined;
  }

  async readLog(): Promise<string> {
    return await Deno.readTextFile(this.logFile).catch(() => "");
  }

  /** Polls until the probe agrees; throws at once, with the end of the log, when the child has died. */
  async waitReady(probe: () => Promise<boolean>, options: WaitOptions = {}): Promise<void> {
    await waitUntil(`${this.name} to be ready`, async () => {
      if (this.isAlive && await probe().catch(() => false)) return this.isAlive;
      if (!this.isAlive) throw new GiveUp(new Error(await this.#deathNotice()));
      return false;
    }, { deadlineMs: START_MS, ...options }).catch(async (cause) => {
      throw new Error(`Cannot start ${this.name}: it is not ready. Log:\n${await this.#logTail()}`, { cause });
    });
  }

  kill(signal: Deno.Signal): void {
    if (!this.isAlive) return;
    try {
      this.#child.kill(signal);
    } catch (error) {
      // Between the end of the child and our notice of it the kernel no longer has the process.
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
    }
  }

  async stop({ graceMs = 5_000 }: { readonly graceMs?: number } = {}): Promise<Deno.CommandStatus> {
    this.kill("SIGTERM");
    const timer = setTimeout(() => this.kill("SIGKILL"), graceMs);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #deathNotice(): Promise<string> {
    const { code, signal } = await this.ended;
    return `${this.name} ended with ${signal === null ? `code ${code}` : signal}`;
  }

  async #logTail(): Promise<string> {
    return (await this.readLog()).split("\n").slice(-25).join("\n");
  }
}
