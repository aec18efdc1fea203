// Why a node cannot be traced, in words that say what to do, from what bpftrace said at its end.
import type { KernelFacts } from "./trace_script.ts";

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
