// A bpftrace that says what a test lets it say.
import type { TraceProcess } from "../../../../lib/exec_format/daemon/bpftrace.ts";

const NO_FOLDERS: readonly string[] = [];

/** One run: its script, and what it does. */
export class FakeTrace implements TraceProcess {
  readonly script: string;
  readonly lines: ReadableStream<string>;
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  isStopped = false;
  readonly #output: WritableStreamDefaultWriter<string>;
  readonly #end = Promise.withResolvers<{ readonly code: number; readonly stderr: string }>();

  constructor(script: string) {
    const { readable, writable } = new TransformStream<string, string>({}, { highWaterMark: 10_000 });
    this.script = script;
    this.lines = readable;
    this.#output = writable.getWriter();
    this.ended = this.#end.promise;
  }

  /** One line of JSON, as bpftrace prints it. */
  say(type: string, data: unknown): void {
    void this.#output.write(JSON.stringify({ type, data }));
  }

  attach(): void {
    this.say("printf", "h 0 0");
  }

  /** The messages of one failure; the path is from the root inwards. */
  fail(path: readonly string[], { file = "/app", at = 1, first = "1", parent = NO_FOLDERS } = {}): void {
    this.say("printf", `b 0 ${at} runc:[2:INIT]`);
    this.say("printf", `f 0 ${at} ${file}`);
    for (const name of parent.toReversed()) this.say("printf", `p 0 ${at} ${name}`);
    for (const name of path.toReversed()) this.say("printf", `d 0 ${at} ${name}`);
    this.say("printf", `e 0 ${at} ${first}`);
  }

  async end(code: number, stderr: string): Promise<void> {
    await this.#output.close();
    this.#end.resolve({ code, stderr });
  }

  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    void this.#output.close().catch(() => {});
    this.#end.resolve({ code: 0, stderr: "" });
  }
}
