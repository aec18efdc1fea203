import assert from "node:assert/strict";
import { silentLogger } from "../../lib/log.ts";
import { runEnoexecDaemon } from "../../serve/enoexec_daemon.ts";
import { FakeTrace } from "../lib/exec_format/daemon/fake_trace.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";
import { until } from "../support/until.ts";

Deno.test("runEnoexecDaemon() is ready once it traces, shows its metrics, and ends bpftrace with itself", async () => {
  const stop = new AbortController();
  let trace: FakeTrace | undefined;
  let port = 0;
  const running = runEnoexecDaemon({
    api: new MemoryCluster().api,
    clock: new FakeClock(),
    log: silentLogger,
    nodeName: "n1",
    namespace: "archway-system",
    adminListen: { host: "127.0.0.1", port: 0 },
    start: (script) => trace = new FakeTrace(script),
    onListening: (opened) => port = opened,
  }, stop.signal);
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.text()];
  };
  await until("the trace to begin", () => trace !== undefined);
  assert.equal((await ask("/healthz"))[0], 200);
  const [status, text] = await ask("/readyz");
  assert.equal(status, 503);
  assert.match(text, /not yet tracing/);
  trace?.attach();
  await until("the daemon to be ready", async () => (await ask("/readyz"))[0] === 200);
  assert.match((await ask("/metrics"))[1], /^archway_exec_trace_up 1$/m);
  stop.abort();
  await running;
  assert.equal(trace?.isStopped, true);
});
