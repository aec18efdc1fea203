import assert from "node:assert/strict";
import { EnoexecEventWriter, type WriteOutcome } from "../../../../lib/exec_format/daemon/enoexec_event_writer.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";
import { containerId, NAMESPACE, NODE, UID } from "./daemon_bed.ts";

Deno.test("EnoexecEventWriter keeps a thousand failures while the API server is away, and counts the others", () => {
  const outcomes: WriteOutcome[] = [];
  const writer = new EnoexecEventWriter({
    api: new MemoryCluster().api,
    clock: new FakeClock(),
    log: silentLogger,
    namespace: NAMESPACE,
    observe: (outcome) => void outcomes.push(outcome),
  });
  const pod = { podNamespace: "team", podName: "web", podUid: UID };
  const where = { nodeName: NODE, ...pod, command: undefined, atMs: 0, isEntryPoint: true };
  for (let at = 0; at < 1_005; at++) writer.add({ ...where, containerId: `containerd://${containerId(String(at))}` });
  assert.equal(writer.pending, 1_000);
  assert.deepEqual(outcomes, Array(5).fill("overflow"));
});
