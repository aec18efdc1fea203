import assert from "node:assert/strict";
import { type KernelFacts, renderTraceScript } from "../../../../lib/exec_format/daemon/trace_script.ts";

const NEW: KernelFacts = { parentField: "__parent", canProbe: true };

Deno.test("renderTraceScript() watches execve and execveat for ENOEXEC alone", () => {
  const script = renderTraceScript(NEW);
  for (const call of ["sys_exit_execve", "sys_exit_execveat"]) {
    assert.ok(script.includes(`tracepoint:syscalls:${call} /args->ret == -8/ {`), call);
  }
});

Deno.test("renderTraceScript() names the parent of a folder as the kernel does", () => {
  for (const parentField of ["__parent", "parent"] as const) {
    const script = renderTraceScript({ ...NEW, parentField });
    const fields = new Set([...script.matchAll(/\$[cd]->(\w*parent)\b/g)].map(([, field]) => field));
    assert.deepEqual([...fields], [parentField]);
  }
});

Deno.test("renderTraceScript() prints the unified hierarchy, and that of a controller where it is another one", () => {
  const script = renderTraceScript(NEW);
  assert.match(script, /dfl_cgrp->kn;[\s\S]*subsys\[0\]->cgroup->kn;/);
  assert.match(script, /if \(\$isOther\) \{\s*unroll\(12\) \{\s*if \(\(uint64\)\$c->__parent != 0\)/);
});

Deno.test("renderTraceScript() says of each path whether folders are missing, and takes none for a first program then", () => {
  const ends = [...renderTraceScript(NEW).matchAll(/ if \(\(uint64\)\$([cd])->__parent != 0\) \{ (\$isFirst = \d);/g)];
  const one = ["d $isFirst = 0", "d $isFirst = 2", "c $isFirst = 2"];
  // Once for each way to start a program.
  assert.deepEqual(ends.map(([, ...end]) => end.join(" ")), [...one, ...one]);
});

Deno.test("renderTraceScript() prints the folders of the parent of a first program", () => {
  assert.match(
    renderTraceScript(NEW),
    /if \(\$isFirst\) \{\s*\$d = \$leader->real_parent->cgroups->dfl_cgrp->kn;[\s\S]*"p %d/,
  );
});

Deno.test("renderTraceScript() takes programs of every system, and files of zeros, for more than texts", () => {
  const script = renderTraceScript(NEW);
  const found = [...script.matchAll(/strncmp\(\$file->buf, ("[^"]*"), (\d)\) == 0/g)].map(([, ...rest]) => rest.join());
  assert.deepEqual(found, ['"\\177ELF",4', '"\\317\\372\\355\\376",4', '"\\312\\376\\272\\276",4', '"MZ",2', '"",1']);
});

Deno.test("renderTraceScript() forgets what a thread has begun that goes on under the number of its process", () => {
  const of = (facts: KernelFacts): string =>
    /sched_process_exec \/args->old_pid != args->pid\/ \{ (.*) \}/.exec(renderTraceScript(facts))?.[1] ?? "";
  assert.equal(of(NEW), "delete(@file[args->old_pid]); delete(@format[args->old_pid]);");
  assert.equal(of({ ...NEW, canProbe: false }), "delete(@file[args->old_pid]);");
});

Deno.test("renderTraceScript() does without the look at the file where it cannot be probed", () => {
  assert.match(renderTraceScript(NEW), /kprobe:security_bprm_check/);
  const plain = renderTraceScript({ ...NEW, canProbe: false });
  assert.doesNotMatch(plain, /kprobe|@format|@texts/);
});

Deno.test("renderTraceScript() has balanced braces for every kernel", () => {
  for (const parentField of ["__parent", "parent"] as const) {
    for (const canProbe of [true, false]) {
      const script = renderTraceScript({ parentField, canProbe });
      assert.equal(script.split("{").length, script.split("}").length);
      assert.doesNotMatch(script, /undefined|NaN/);
    }
  }
});
