// Keeps bpftrace running: starts it, reads it, starts it again after a pause when it ends, and reports why it did.
import { backoffMs, type Clock } from "../../clock.ts";
import { openDeadline } from "../../k8s/deadline.ts";
import { errorText, type Logger } from "../../log.ts";
import { type TraceMessage, TraceReader } from "./trace_output.ts";
import { ALIVE_WITHIN_MS, type KernelFacts, renderTraceScript } from "./trace_script.ts";

export interface TraceProcess {
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

export type TraceFault =
  | { readonly kind: "other kernel"; readonly facts: KernelFacts }
  /** One sentence; a restart helps only after an administrator has acted, or by chance. */
  | { readonly kind: "failed"; readonly reason: string };

/** Longest quotation of bpftrace. */
const MAX_SAID = 300;

const SAYINGS: readonly (readonly [pattern: RegExp, reason: string])[] = [
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

/** What the end of bpftrace means for the script that it ran. `stderr` is the end of its standard error. Pure. */
export function judgeTraceEnd(stderr: string, facts: KernelFacts, code: number): TraceFault {
  const lines = meaningfulLines(stderr);
  const text = lines.join("\n");
  if (/does not contain a field named '__parent'/.test(text) && facts.parentField === "__parent") {
    return { kind: "other kernel", facts: { ...facts, parentField: "parent" } };
  }
  if (/ERROR.*(?:security_bprm_check|linux_binprm)/.test(text) && facts.canProbe) {
    return { kind: "other kernel", facts: { ...facts, canProbe: false } };
  }
  const known = SAYINGS.find(([pattern]) => pattern.test(text))?.[1] ??
    `Cannot trace this node: bpftrace ended with ${code}.`;
  const said = (lines.findLast((line) => line.includes("ERROR")) ?? lines.at(-1))?.slice(0, MAX_SAID);
  return { kind: "failed", reason: said === undefined ? known : `${known} It said: ${said}` };
}

/** A refused raise of the limit of locked memory is no fault: since Linux 5.11 BPF memory counts as the cgroup's. */
function meaningfulLines(stderr: string): readonly string[] {
  return stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !/rlimit/i.test(line));
}
