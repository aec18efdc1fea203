// A process that does nothing but measure how late its timers are, as Archway measures itself: what the machine alone adds.
// Started by the soak; when its standard input closes it prints the upper bound (ms) of the 99th percentile.
import { systemClock } from "../../lib/clock.ts";
import { watchEventLoop } from "../../lib/server/metrics.ts";
import { LATENCY_BUCKETS_SECONDS } from "../../lib/metrics.ts";

const stop = new AbortController();
const delays: number[] = [];
const watching = watchEventLoop({ clock: systemClock, observe: (ms) => void delays.push(ms) }, stop.signal);
for await (const _ of Deno.stdin.readable);
stop.abort();
await watching;
const p99Ms = delays.sort((left, right) => left - right)[Math.floor(delays.length * 0.99)] ?? 0;
const boundMs = 1_000 * (LATENCY_BUCKETS_SECONDS.find((bucket) => p99Ms <= bucket * 1_000) ?? Infinity);
Deno.stdout.writeSync(new TextEncoder().encode(String(boundMs)));
