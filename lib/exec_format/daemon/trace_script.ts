// The program for bpftrace. It prints each start of a program that the kernel refused with ENOEXEC, and the names of
// the process's cgroup. The kernel reads them, because the process has ended before anything else could.
//
//   sys_enter_execve, …execveat  every start: where the name of the file is
//   kprobe:security_bprm_check   every start, once the file's beginning is read: whether it is a text
//   sys_exit_execve, …execveat   every end of a start: prints when it failed with ENOEXEC
//   interval                     a heartbeat with counts; what was seen is dropped once a minute
//
// A text without "#!" fails with ENOEXEC as well, and shells then run it themselves. Where the kernel has kprobes, a
// file is reported only if it begins with zeros, or like a program of any system. A cgroup that fails in a loop is
// printed once a minute, so that a hostile container costs only a map look-up per start.
import CALL from "./trace_call.bt" with { type: "text" };
import FORMAT from "./trace_format.bt" with { type: "text" };
import REST from "./trace_rest.bt" with { type: "text" };

export interface KernelFacts {
  /** Field of `struct kernfs_node`: `parent` before Linux 6.15. */
  readonly parentField: "__parent" | "parent";
  /** Whether the kernel has kprobes; without them, texts are reported as well. */
  readonly canProbe: boolean;
}

export const TRACE_ENVIRONMENT: Readonly<Record<string, string>> = {
  // A container's folder has up to 85 characters; by default bpftrace cuts strings at 63.
  BPFTRACE_STRLEN: "128",
  // Otherwise bpftrace asks the kernel for the loaded types, which needs the capability SYS_ADMIN.
  BPFTRACE_BTF: "/sys/kernel/btf/vmlinux",
};

/** A trace that is silent for longer (ms) counts as dead. The limit is long, since a node may be short of CPU time. */
export const ALIVE_WITHIN_MS = 35_000;

export function renderTraceScript({ parentField, canProbe }: KernelFacts): string {
  const calls = ["execve", "execveat"].map((call) => CALL.replaceAll("CALL", call));
  const others = canProbe ? " // without kprobes" : " // with kprobes";
  return [...canProbe ? [FORMAT] : [], ...calls, REST].join("").split("\n")
    .filter((line) => !line.startsWith("//") && !line.endsWith(others))
    .map((line) => line.replace(/ \/\/ with(?:out)? kprobes$/, "").replaceAll("PARENT", parentField))
    .join("\n");
}
