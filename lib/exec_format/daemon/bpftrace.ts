// Keeps bpftrace running: starts it, reads it, starts it again after a pause when it ends, and reports why it did.
import { backoffMs, type Clock } from "../../clock.ts";
import { openDeadline } from "../../k8s/deadline.ts";
import { errorText, type Logger } from "../../log.ts";
import { judgeTraceEnd, type TraceFault } from "./trace_faults.ts";
import { type TraceMessage, TraceReader } from "./trace_output.ts";
import { ALIVE_WITHIN_MS, type KernelFacts, renderTraceScript } from "./trace_script.ts";

export interface TraceProcess {
  /** Lines of its standard output, until it ends. */
  readonly lines: AsyncIterable<string>;
  /** How it ended, with the end of its standard error. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  stop(): void;
}

export interface TraceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly start: (script: string) => TraceProcess;
  readonly onMessage: (message: TraceMessage) => void;
  readonly onFailure: () => void;
}

/** Between two starts: a missing tracefs may be mounted any time, and each try costs a second of a core. */
const RESTART_BACKOFF = { baseMs: 1_000, capMs: 60_000 } as const;
/** A run that lasted so long was healthy. */
const HEALTHY_MS = 60_000;

export class Trace {
  readonly #deps: TraceDeps;
  isTracing = false;

  constructor(deps: TraceDeps) {
    this.#deps = deps;
  }

  /** Traces until the signal aborts; never rejects, never gives up. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, onFailure } = this.#deps;
    let facts: KernelFacts = { parentField: "__parent", canProbe: true };
    for (let failures = 0; !signal.aborted;) {
      const startedMs = clock.monotonicMs();
      const end = await this.#attempt(facts, signal);
      if (signal.aborted) return;
      if (end.kind === "other kernel") {
        log.info("this kernel needs another trace", { ...end.facts });
        facts = end.facts;
        continue;
      }
      failures = clock.monotonicMs() - startedMs >= HEALTHY_MS ? 1 : failures + 1;
      onFailure();
      const waitMs = backoffMs(failures, RESTART_BACKOFF);
      log.error("exec format errors of this node are not seen", { reason: end.reason, waitMs: Math.round(waitMs) });
      await clock.sleep(waitMs, signal);
    }
  }

  async #attempt(facts: KernelFacts, signal: AbortSignal): Promise<TraceFault> {
    try {
      return await this.#traceOnce(facts, signal);
    } catch (error) {
      return { kind: "failed", reason: `Cannot trace this node: ${errorText(error)}` };
    } finally {
      this.isTracing = false;
    }
  }

  /** One run of bpftrace, until it ends, writes nothing for too long, or the signal aborts. */
  async #traceOnce(facts: KernelFacts, signal: AbortSignal): Promise<TraceFault> {
    const { clock, log, start, onMessage } = this.#deps;
    const reader = new TraceReader();
    const process = start(renderTraceScript(facts));
    using silence = openDeadline(ALIVE_WITHIN_MS, { signal, clock });
    silence.signal.addEventListener("abort", () => process.stop(), { once: true });
    for await (const line of process.lines) {
      silence.restart();
      const message = reader.read(line);
      if (message === undefined) continue;
      if (!this.isTracing && message.kind === "alive") {
        this.isTracing = true;
        log.info("tracing", { ...facts });
      }
      onMessage(message);
    }
    const { code, stderr } = await process.ended;
    if (silence.signal.aborted && !signal.aborted) {
      return { kind: "failed", reason: "Cannot trace this node: bpftrace went silent and was stopped." };
    }
    return judgeTraceEnd(stderr, facts, code);
  }
}
