import assert from "node:assert/strict";
import { judgeTraceEnd } from "../../../../lib/exec_format/daemon/bpftrace.ts";
import type { KernelFacts } from "../../../../lib/exec_format/daemon/trace_script.ts";

const FACTS: KernelFacts = { parentField: "__parent", canProbe: true };

Deno.test("judgeTraceEnd() has nothing left to try where the kernel has neither name of the parent's field", () => {
  const stderr = "ERROR: Struct/union of type 'struct kernfs_node' does not contain a field named '__parent'";
  assert.equal(judgeTraceEnd(stderr, { ...FACTS, parentField: "parent" }, 1).kind, "failed");
});

Deno.test("judgeTraceEnd() does without the check of the file where the kernel does not describe it", () => {
  const end = judgeTraceEnd("ERROR: Unknown struct/union: 'struct linux_binprm'", FACTS, 1);
  assert.deepEqual(end, { kind: "other kernel", facts: { ...FACTS, canProbe: false } });
});

const SAYINGS: readonly (readonly [stderr: string, says: RegExp])[] = [
  [
    "stdin:1:1-37: ERROR: tracepoint not found: syscalls:sys_enter_execve\ntracepoint:syscalls:sys_enter_execve {\n~~~~",
    /no events of system calls.*mount -t tracefs.*CONFIG_FTRACE_SYSCALLS/,
  ],
  ["ERROR: bpftrace currently only supports running as the root user.", /runAsUser: 0/],
  ["ERROR: Error loading program: tracepoint:x: Operation not permitted", /BPF and PERFMON/],
  ["ERROR: Unknown struct/union: 'struct task_struct'", /BTF.*CONFIG_DEBUG_INFO_BTF/],
  ["ERROR: Include headers with missing type definitions or install BTF information to your system.", /BTF.*vmlinux/],
  ["something else\nlast words\n", /ended with 1\. It said: last words$/],
  [
    "WARNING: couldn't set RLIMIT_MEMLOCK for bpftrace: Operation not permitted\nlast words\n",
    /ended with 1\. It said: last words$/,
  ],
  ["", /ended with 1\.$/],
];

Deno.test("judgeTraceEnd() reports what to do, and what bpftrace said last", () => {
  for (const [stderr, says] of SAYINGS) {
    const end = judgeTraceEnd(stderr, FACTS, 1);
    assert.match(end.kind === "failed" ? end.reason : end.kind, says, stderr);
  }
});
