// What the tests of the store share.
import { type Clock, systemClock } from "../../../lib/clock.ts";
import type { Logger } from "../../../lib/log.ts";
import { linesOf } from "../../support/lines.ts";

export function recordingLogger(): { readonly log: Logger; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (level: string) => (message: string): void => void lines.push(`${level} ${message}`);
  const [debug, info, warn, error] = [at("debug"), at("info"), at("warn"), at("error")];
  const log: Logger = { debug, info, warn, error, with: () => log };
  return { log, lines };
}

export function shiftedClock(): { readonly clock: Clock; forward(ms: number): void } {
  let shiftMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + shiftMs };
  return { clock, forward: (ms) => void (shiftMs += ms) };
}

/** A child that runs a module of TypeScript text; its standard output comes line by line. */
export function spawnScript(
  script: string,
): { readonly child: Deno.ChildProcess; readonly lines: AsyncIterator<string> } {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", "--no-check", "--ext=ts", "-"],
    cwd: new URL("../../../", import.meta.url).pathname,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  writer.write(new TextEncoder().encode(script)).then(() => writer.close(), () => {});
  return { child, lines: linesOf(child.stdout) };
}
