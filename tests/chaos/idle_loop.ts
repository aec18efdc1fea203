// A process that does nothing but measure how late its timers are, as Archway measures itself: what the machine alone adds.
// Started by the soak; when its standard input closes it prints the upper bound (ms) of the 99th percentile.
import { systemClock } from "../../lib/clock.ts";
import { watchEventLoop } from "../../lib/server/metrics.ts";
import { LATENCY_BUCKETS_SECONDS } from "../../lib/metrics.ts";

export interface IdleLoop extends AsyncDisposable {
  /** Ends it and gives the bound (ms). */
  p99Ms(): Promise<number>;
}

export function startIdleLoop(): IdleLoop {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-env", new URL(import.meta.url).pathname],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const output = child.output();
  let isClosed = false;
  const end = async (): Promise<number> => {
    if (!isClosed) await child.stdin.close();
    isClosed = true;
    return Number(new TextDecoder().decode((await output).stdout));
  };
  return { p99Ms: end, [Symbol.asyncDispose]: () => end().then(() => {}) };
}

async function measure(): Promise<number> {
  const stop = new AbortController();
  const delays: number[] = [];
  const watching = watchEventLoop({ clock: systemClock, observe: (ms) => void delays.push(ms) }, stop.signal);
  for await (const _ of Deno.stdin.readable);
  stop.abort();
  await watching;
  const p99Ms = delays.sort((left, right) => left - right)[Math.floor(delays.length * 0.99)] ?? 0;
  return 1_000 * (LATENCY_BUCKETS_SECONDS.find((bucket) => p99Ms <= bucket * 1_000) ?? Infinity);
}

if (import.meta.main) Deno.stdout.writeSync(new TextEncoder().encode(String(await measure())));
