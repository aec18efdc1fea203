import assert from "node:assert/strict";
import { Trace, type TraceDeps } from "../../../../lib/exec_format/daemon/bpftrace.ts";
import type { TraceMessage } from "../../../../lib/exec_format/daemon/trace_output.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { whileRunning } from "../../../controllers/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/until.ts";
import { FakeTrace } from "./fake_trace.ts";

interface Bed {
  readonly runs: FakeTrace[];
  readonly messages: TraceMessage[];
  readonly errors: string[];
  failures: number;
  readonly isTracing: () => boolean;
}

async function withTrace(
  work: (bed: Bed, clock: FakeClock) => Promise<void>,
  changes: Partial<TraceDeps> = {},
): Promise<void> {
  const clock = new FakeClock();
  const [runs, messages, errors]: [FakeTrace[], TraceMessage[], string[]] = [[], [], []];
  const trace = new Trace({
    clock,
    log: { ...silentLogger, error: (_, fields = {}) => void errors.push(String(fields["reason"])) },
    start: (script) => {
      const run = new FakeTrace(script);
      runs.push(run);
      return run;
    },
    onMessage: (message) => void messages.push(message),
    onFailure: () => void bed.failures++,
    ...changes,
  });
  const bed: Bed = { runs, messages, errors, failures: 0, isTracing: () => trace.isTracing };
  await whileRunning({ clock }, trace, () => work(bed, clock));
}

async function nthRun({ runs }: Bed, count: number): Promise<FakeTrace> {
  await until(`run ${count}`, () => runs.length >= count);
  return runs[count - 1] ?? assert.fail("no such run");
}

Deno.test("the trace shows that it runs from the moment on at which the probes are attached", () =>
  withTrace(async (bed) => {
    const run = await nthRun(bed, 1);
    assert.equal(bed.isTracing(), false);
    run.attach();
    run.fail(["kubepods"]);
    await until("two messages", () => bed.messages.length === 2);
    assert.equal(bed.isTracing(), true);
    await run.end(1, "gone");
    await until("the end to be seen", () => !bed.isTracing());
  }));

Deno.test("the trace starts again with growing pauses and reports why it ended", () =>
  withTrace(async (bed, clock) => {
    for (const [count, pauseMs] of [[1, 1_000], [2, 2_000], [3, 4_000]] as const) {
      await (await nthRun(bed, count)).end(1, "boom");
      await until("the failure to be counted", () => bed.failures === count);
      await clock.advance(pauseMs / 2 - 1);
      assert.equal(bed.runs.length, count, "not before half of the pause");
      await clock.advance(pauseMs);
    }
    assert.match(bed.errors[0] ?? "", /It said: boom/);
  }));

Deno.test("the trace tries the next script at once where the kernel is another one", () =>
  withTrace(async (bed) => {
    const unnamed = "Struct/union of type 'struct kernfs_node' does not contain a field named '__parent'";
    await (await nthRun(bed, 1)).end(1, `stdin:1:1-2: ERROR: ${unnamed}\n`);
    const second = await nthRun(bed, 2);
    assert.match(second.script, /->parent\b/);
    assert.match(second.script, /kprobe/);
    await second.end(1, "ERROR: Error attaching probe: 'kprobe:security_bprm_check'");
    const third = await nthRun(bed, 3);
    assert.match(third.script, /->parent\b/);
    assert.doesNotMatch(third.script, /kprobe/);
    assert.equal(bed.failures, 0);
  }));

Deno.test("the trace survives a bpftrace that cannot be started", async () => {
  await withTrace(async (bed) => {
    await until("the failure", () => bed.failures === 1);
    assert.match(bed.errors[0] ?? "", /Cannot trace this node: no such program/);
  }, {
    start: () => {
      throw new Error("no such program");
    },
  });
});

Deno.test("the trace stops a bpftrace that writes nothing any more, but not one that sends heartbeats", () =>
  withTrace(async (bed, clock) => {
    const run = await nthRun(bed, 1);
    run.attach();
    for (let count = 2; count < 6; count++) {
      await clock.advance(30_000);
      run.say("printf", "h 0 0");
      await until("the sign of life to be read", () => bed.messages.length === count);
    }
    assert.equal(run.isStopped, false);
    await clock.advance(36_000);
    assert.equal(run.isStopped, true);
    await until("the failure", () => bed.failures === 1);
    assert.match(bed.errors[0] ?? "", /silent/);
  }));

Deno.test("the trace stops bpftrace at the end, and counts that as no failure", async () => {
  const beds: Bed[] = [];
  await withTrace(async (bed) => {
    (await nthRun(bed, 1)).attach();
    beds.push(bed);
  });
  assert.deepEqual(beds.map(({ runs, failures }) => [runs[0]?.isStopped, failures]), [[true, 0]]);
});
