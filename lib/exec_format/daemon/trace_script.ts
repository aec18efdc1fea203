// The program for bpftrace: prints each start of a program that the kernel refused with ENOEXEC, with the names of the
// cgroup that the process is in, read in the kernel, because the process has ended before it could be looked up.
//
//   sys_enter_execve, …execveat  every start: where the name of the file is
//   kprobe:security_bprm_check   every start, once the file's beginning is read: whether it is a text
//   sys_exit_execve, …execveat   every end of a start: prints when it failed with ENOEXEC
//   interval                     a heartbeat with counts; what was seen is dropped once a minute
//
// A text without "#!" fails with ENOEXEC as well, and shells then run it themselves: where the kernel has kprobes, only what
// begins as a program does is reported, of whatever system, or with zeros. A cgroup that fails in a loop is printed once a
// minute, so that a hostile container costs no more than a map look-up a start.

export interface KernelFacts {
  /** Field of `struct kernfs_node`: `parent` before Linux 6.15. */
  readonly parentField: "__parent" | "parent";
  /** Whether the kernel has kprobes; without them, texts are reported as well. */
  readonly canProbe: boolean;
}

const ENOEXEC = -8;
/** Flag of a task that has executed nothing since it was forked. */
const PF_FORKNOEXEC = 0x40;
/**
 * Folders of a path that are printed: a container of a node that is a container itself has about ten. A longer path is
 * reported as cut off: a container can make folders below its own that are named as another container's.
 */
const LEVELS = 12;
/** Controllers of cgroup v1 that are tried, in turn, for one whose hierarchy is mounted. */
const CONTROLLERS = [0, 1, 2, 3, 4];
/** Between two signs of life (s). */
const ALIVE_SECONDS = 3;
/** A cgroup is printed once in this time (s). */
const REPEAT_SECONDS = 60;

export const TRACE_ENVIRONMENT: Readonly<Record<string, string>> = {
  // A container's folder has up to 85 characters, and bpftrace cuts texts at 63.
  BPFTRACE_STRLEN: "128",
  // Else it reads from the kernel the types that are loaded, which takes the capability SYS_ADMIN.
  BPFTRACE_BTF: "/sys/kernel/btf/vmlinux",
};

/** Longest silence of a running trace (ms) that is still life: a node may be short of processor time. */
export const ALIVE_WITHIN_MS = 35_000;

export function renderTraceScript(facts: KernelFacts): string {
  const { canProbe } = facts;
  const calls = ["execve", "execveat"].map((name) => `tracepoint:syscalls:sys_ENDS_${name}`);
  const [enters, exits] = ["enter", "exit"].map((end) => calls.map((call) => call.replace("ENDS", end)));
  const forget = (verb: (map: string) => string): string =>
    ["@file", ...canProbe ? ["@format"] : []].map((map) => `${verb(map)};`).join(" ");
  return [
    ...(enters ?? []).map((call) => `${call} { @file[tid] = args->filename; }`),
    ...canProbe ? [FORMAT_PROBE] : [],
    ...(exits ?? []).map((call) => `${call} /args->ret == ${ENOEXEC}/ {\n${renderReport(facts)}\n}`),
    ...(exits ?? []).map((call) => `${call} { ${forget((map) => `delete(${map}[tid])`)} }`),
    // A thread that executes a program goes on under the number of its process.
    `tracepoint:sched:sched_process_exec /args->old_pid != args->pid/ { ${
      forget((map) => `delete(${map}[args->old_pid])`)
    } }`,
    `interval:s:${REPEAT_SECONDS} { clear(@seen); ${forget((map) => `clear(${map})`)} }`,
    // Attached last: its first message says that all the others are.
    `interval:s:${ALIVE_SECONDS} { printf("h %llu %llu", @repeats, ${canProbe ? "@texts" : "0"}); }`,
  ].join("\n");
}

/**
 * Whether nothing has run in the container before: the process has executed nothing since it was forked, is the first of
 * its PID namespace, which is a child of the runtime's, and was forked outside of the container, by the runtime. A user who
 * may `exec` into a container can make a process the first of a PID namespace, but of one within the container's, and
 * its parent is in a folder of the container: the parent's folders are printed for that.
 */
const FIRST_PROGRAM = [
  "  $leader = curtask->group_leader;",
  `  $isFirst = ($leader->flags & ${PF_FORKNOEXEC}) != 0 &&`,
  "    (uint64)$leader->nsproxy->pid_ns_for_children->child_reaper == (uint64)$leader &&",
  "    (uint64)$leader->nsproxy->pid_ns_for_children->parent ==",
  "    (uint64)$leader->real_parent->nsproxy->pid_ns_for_children &&",
  "    (uint64)$leader->real_parent->cgroups != (uint64)$leader->cgroups ? 1 : 0;",
].join("\n");

/** How programs begin, and how many bytes of it count: those of Linux, of macOS (for one architecture, for several), of Windows. */
const PROGRAMS: readonly (readonly [beginning: string, size: number])[] = [
  ["\\177ELF", 4],
  ["\\317\\372\\355\\376", 4],
  ["\\312\\376\\272\\276", 4],
  ["MZ", 2],
];

/** Called again for the interpreter of a script, so the last beginning that it sees is that of the file to be run. */
const FORMAT_PROBE = [
  "kprobe:security_bprm_check {",
  "  $file = (struct linux_binprm *)arg0;",
  "  @format[tid] = 2;",
  ...PROGRAMS.map(([beginning, size]) =>
    `  if (strncmp($file->buf, "${beginning}", ${size}) == 0) { @format[tid] = 1; }`
  ),
  // Damaged: all zeros, but not empty, which a shell takes for a script.
  '  if (strncmp($file->buf, "", 1) == 0 && $file->file->f_inode->i_size > 0) { @format[tid] = 1; }',
  "}",
].join("\n");

/**
 * Both hierarchies are read, so that it does not matter how the node mounts them:
 *
 * | layout | $d, the unified hierarchy     | $c, that of a controller                          |
 * |--------|-------------------------------|---------------------------------------------------|
 * | v2     | the container's folder        | the same, or one further out: printed if it is not |
 * | hybrid | the container's, or a service's | the container's folder                           |
 * | v1     | the root, which has no name   | the container's folder                            |
 */
function renderReport({ parentField, canProbe }: KernelFacts): string {
  const body = [
    "$d = curtask->cgroups->dfl_cgrp->kn;",
    controllerGroup(parentField),
    "if (@seen[$d->id, $c->id] == 0) {",
    "  @seen[$d->id, $c->id] = 1;",
    "  $at = nsecs;",
    '  printf("b %d %llu %s", cpu, $at, comm);',
    '  printf("f %d %llu %s", cpu, $at, str(@file[tid]));',
    FIRST_PROGRAM,
    `  if ($isFirst) {\n${renderParent(parentField)}\n  }`,
    "  $isOther = $c->id != $d->id;",
    renderChain({ chain: "d", mark: "d", parentField, cutOff: "$isFirst = 2;" }),
    `  if ($isOther) {\n${renderChain({ chain: "c", mark: "c", parentField, cutOff: "$isFirst = 2;" })}\n  }`,
    '  printf("e %d %llu %d", cpu, $at, $isFirst);',
    "} else { @repeats++; }",
  ].join("\n");
  return canProbe ? `if (@format[tid] != 2) {\n${body}\n} else { @texts++; }` : body;
}

/** The group of the first controller that has a hierarchy of its own: one that has none is in the root of another. */
function controllerGroup(parentField: string): string {
  const [first = 0, ...others] = CONTROLLERS;
  const of = (controller: number): string => `curtask->cgroups->subsys[${controller}]->cgroup->kn`;
  const more = others.map((controller) => `if ((uint64)$c->${parentField} == 0) { $c = ${of(controller)}; }`);
  return [`$c = ${of(first)};`, ...more].join("\n");
}

/** The parent's path. It has no variable of its own: the kernel gives a program 512 bytes for all of them. */
function renderParent(parentField: string): string {
  return [
    "  $d = $leader->real_parent->cgroups->dfl_cgrp->kn;",
    renderChain({ chain: "d", mark: "p", parentField, cutOff: "$isFirst = 0;" }),
    "  $d = curtask->cgroups->dfl_cgrp->kn;",
  ].join("\n");
}

interface Chain {
  readonly chain: "c" | "d";
  readonly mark: "c" | "d" | "p";
  readonly parentField: string;
  readonly cutOff: string;
}

/** The names from the process's own folder outwards; the root has none. */
function renderChain({ chain, mark, parentField, cutOff }: Chain): string {
  return [
    `  unroll(${LEVELS}) {`,
    `    if ((uint64)$${chain}->${parentField} != 0) {`,
    `      printf("${mark} %d %llu %s", cpu, $at, str($${chain}->name));`,
    `      $${chain} = $${chain}->${parentField};`,
    "    }",
    "  }",
    `  if ((uint64)$${chain}->${parentField} != 0) { ${cutOff} }`,
  ].join("\n");
}
