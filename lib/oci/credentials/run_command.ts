// Runs a credential helper: a line in, a document out. Its output may hold secrets and is never shown.
import type { Callers } from "../callers.ts";

export interface HelperCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** Who waits for the answer: namespaces take turns. */
  readonly callers: Callers;
}

/** `failed`: it could not be started, took too long or wrote too much. `message` contains no output. */
type HelperOutcome =
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string }
  | { readonly kind: "failed"; readonly message: string };

export type CommandRunner = (command: HelperCommand) => Promise<HelperOutcome>;

const MAX_OUTPUT_BYTES = 1 << 20;

/** Runs a helper on this machine; it is killed when it takes too long or writes too much. */
export async function runCommand(command: HelperCommand): Promise<HelperOutcome> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(`took longer than ${command.timeoutMs} ms`), command.timeoutMs);
  try {
    return await runUntil(command, stop);
  } catch (error) {
    return failed(startProblem(error));
  } finally {
    clearTimeout(timer);
  }
}

async function runUntil(command: HelperCommand, stop: AbortController): Promise<HelperOutcome> {
  const child = new Deno.Command(command.program, {
    args: [...command.args],
    env: { ...command.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  const end = (): void => {
    kill(child);
    // A grandchild may hold the pipe open for as long as it likes.
    reader.cancel().catch(() => {});
  };
  stop.signal.addEventListener("abort", end, { once: true });
  const [stdout, status] = await Promise.all([
    readCapped(reader, () => stop.abort("wrote more than 1 MiB")),
    child.status,
    writeLine(child.stdin, command.stdin),
  ]);
  if (stop.signal.aborted) return failed(String(stop.signal.reason));
  return { kind: "exited", code: status.code, stdout };
}

/** Helpers may exit without reading, so a broken pipe is ignored. */
async function writeLine(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    await writer.abort().catch(() => {});
  }
}

async function readCapped(reader: ReadableStreamDefaultReader<Uint8Array>, stop: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    bytes += chunk.value.length;
    if (bytes > MAX_OUTPUT_BYTES) stop();
    else text += decoder.decode(chunk.value, { stream: true });
  }
  return text + decoder.decode();
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has already exited.
  }
}

function startProblem(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "is not there";
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) return "may not be run";
  return "could not be run";
}

function failed(message: string): HelperOutcome {
  return { kind: "failed", message };
}
