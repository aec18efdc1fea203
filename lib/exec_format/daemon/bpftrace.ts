// Keeps bpftrace running: reads its output, and when it ends, logs why and starts it again after a pause.
import { backoffMs, type Clock, openDeadline } from "../../clock.ts";
import { errorText, type Logger } from "../../log.ts";
import { type TraceMessage, TraceReader } from "./trace_output.ts";
import { ALIVE_WITHIN_MS, type KernelFacts, renderTraceScript } from "./trace_script.ts";

export interface TraceProcess {
  readonly lines: AsyncIterable<string>;
  /** Its exit code, and the last part of its standard error. */
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

/** Pause between two starts: each costs a second of CPU time, but a missing tracefs may be mounted at any time. */
const RESTART_BACKOFF = { baseMs: 1_000, capMs: 60_000 } as const;
/** A run that lasted this long was healthy: the backoff begins anew. */
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

type TraceFault =
  | { readonly kind: "other kernel"; readonly facts: KernelFacts }
  /** Tells an administrator what to do, since a restart alone rarely helps. */
  | { readonly kind: "failed"; readonly reason: string };

/** Longest part of bpftrace's output that is quoted, in characters. */
const MAX_QUOTED = 300;

const KNOWN_ERRORS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /tracepoint not found: syscalls:/,
    "Cannot trace this node: /sys/kernel/tracing has no events of system calls. Mount tracefs on the node " +
    "(mount -t tracefs tracefs /sys/kernel/tracing) and into the pod as a hostPath; the kernel needs " +
    "CONFIG_FTRACE_SYSCALLS=y.",
  ],
  [
    /only supports running as the root user/,
    "Cannot trace this node: bpftrace must run as root (runAsUser: 0).",
  ],
  [
    /operation not permitted|permission denied|EPERM/i,
    "Cannot trace this node: the kernel refuses. The container needs the capabilities BPF and PERFMON, and " +
    "the kernel may be locked down (/sys/kernel/security/lockdown).",
  ],
  [
    /Unknown struct\/union: 'struct (?:task_struct|kernfs_node)'|BTF is required|install BTF information/i,
    "Cannot trace this node: the kernel has no type information (BTF) in /sys/kernel/btf/vmlinux. " +
    "It needs CONFIG_DEBUG_INFO_BTF=y.",
  ],
];

/** Why bpftrace ended, by its exit code and the last part of its standard error. */
export function judgeTraceEnd(stderr: string, facts: KernelFacts, code: number): TraceFault {
  const lines = meaningfulLines(stderr);
  const text = lines.join("\n");
  if (/does not contain a field named '__parent'/.test(text) && facts.parentField === "__parent") {
    return { kind: "other kernel", facts: { ...facts, parentField: "parent" } };
  }
  if (/ERROR.*(?:security_bprm_check|linux_binprm)/.test(text) && facts.canProbe) {
    return { kind: "other kernel", facts: { ...facts, canProbe: false } };
  }
  const known = KNOWN_ERRORS.find(([pattern]) => pattern.test(text))?.[1] ??
    `Cannot trace this node: bpftrace ended with ${code}.`;
  const quoted = (lines.findLast((line) => line.includes("ERROR")) ?? lines.at(-1))?.slice(0, MAX_QUOTED);
  return { kind: "failed", reason: quoted === undefined ? known : `${known} It said: ${quoted}` };
}

/** Leaves out complaints about RLIMIT_MEMLOCK: since Linux 5.11 BPF memory counts towards the cgroup instead. */
function meaningfulLines(stderr: string): readonly string[] {
  return stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !/rlimit/i.test(line));
}
