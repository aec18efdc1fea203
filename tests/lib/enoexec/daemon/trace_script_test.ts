// The text of the bpftrace program for each kind of kernel.
import assert from "node:assert/strict";
import {
  type CgroupLayout,
  cgroupLayoutOf,
  type KernelFacts,
  renderTraceScript,
} from "../../../../lib/enoexec/daemon/trace_script.ts";

const NEW: KernelFacts = { parentField: "__parent", cgroups: "v2", canProbe: true };

const LAYOUTS: readonly (readonly [text: string, layout: CgroupLayout])[] = [
  ["0::/kubepods.slice\n", "v2"],
  ["2:pids:/a\n1:name=systemd:/a\n0::/a\n", "hybrid"],
  ["3:memory:/a\n2:pids:/a\n1:name=systemd:/a\n", "v1"],
];

Deno.test("cgroupLayoutOf() tells v1, hybrid and v2 apart by /proc/self/cgroup", () => {
  for (const [text, layout] of LAYOUTS) assert.equal(cgroupLayoutOf(text), layout, text);
});

Deno.test("renderTraceScript() watches execve and execveat for ENOEXEC alone", () => {
  const script = renderTraceScript(NEW);
  for (const call of ["sys_exit_execve", "sys_exit_execveat"]) {
    assert.ok(script.includes(`tracepoint:syscalls:${call} /args->ret == -8/ {`), call);
  }
});

Deno.test("renderTraceScript() names the parent of a folder as the kernel does", () => {
  for (const parentField of ["__parent", "parent"] as const) {
    const script = renderTraceScript({ ...NEW, parentField, cgroups: "hybrid" });
    const fields = new Set([...script.matchAll(/\$[cd]->(\w*parent)\b/g)].map(([, field]) => field));
    assert.deepEqual([...fields], [parentField]);
  }
});

Deno.test("renderTraceScript() reads the hierarchies that the node has", () => {
  const chains = (cgroups: CgroupLayout): readonly string[] => {
    const script = renderTraceScript({ ...NEW, cgroups });
    return [...new Set([...script.matchAll(/printf\("([cd]) /g)].map(([, chain = ""]) => chain))];
  };
  assert.deepEqual(chains("v2"), ["d"]);
  assert.deepEqual(chains("hybrid"), ["d", "c"]);
  assert.deepEqual(chains("v1"), ["c"]);
  assert.ok(!renderTraceScript(NEW).includes("subsys"));
});

Deno.test("renderTraceScript() does without the look at the file where it cannot be probed", () => {
  assert.match(renderTraceScript(NEW), /kprobe:security_bprm_check/);
  const plain = renderTraceScript({ ...NEW, canProbe: false });
  assert.doesNotMatch(plain, /kprobe|@format|@texts/);
});

Deno.test("renderTraceScript() has balanced braces for every kernel", () => {
  for (const parentField of ["__parent", "parent"] as const) {
    for (const cgroups of ["v1", "hybrid", "v2"] as const) {
      for (const canProbe of [true, false]) {
        const script = renderTraceScript({ parentField, cgroups, canProbe });
        assert.equal(script.split("{").length, script.split("}").length);
        assert.doesNotMatch(script, /undefined|NaN/);
      }
    }
  }
});
