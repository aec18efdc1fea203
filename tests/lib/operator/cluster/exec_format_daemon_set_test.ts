import assert from "node:assert/strict";
import { renderDaemonSet } from "../../../../lib/operator/cluster/exec_format_daemon_set.ts";
import { isCovered } from "../../../../lib/operator/cluster/monitoring.ts";
import { objectAt } from "../../../../lib/json.ts";
import { makeOperandConfig, stored } from "../decide/make.ts";

const SETTINGS = { namespace: "archway-system", image: "registry.example/archway-enoexec:1" };
const DAEMON_SET = renderDaemonSet(makeOperandConfig(), SETTINGS);

Deno.test("217 renderDaemonSet() keeps the MTO's name, labels and account, and belongs to the config", () => {
  const { metadata, spec } = DAEMON_SET;
  assert.deepEqual([metadata.name, metadata.namespace], ["enoexec-event-daemon", "archway-system"]);
  assert.deepEqual(objectAt(spec, "selector"), { matchLabels: { app: "enoexec-event-daemon" } });
  assert.deepEqual(metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]), [[
    "ClusterPodPlacementConfig",
    "u-1",
  ]]);
  assert.equal(objectAt(objectAt(spec, "template"), "spec")?.["serviceAccountName"], "enoexec-event-daemon");
});

Deno.test("renderDaemonSet() asks for the least that works, and tolerates every taint: no privilege, no namespace of the host", () => {
  const text = JSON.stringify(DAEMON_SET);
  for (const forbidden of ['privileged":true', "hostPID", "hostNetwork", "hostIPC", "crio.sock"]) {
    assert.ok(!text.includes(forbidden), forbidden);
  }
  assert.match(text, /"capabilities":\{"drop":\["ALL"\],"add":\["BPF","PERFMON"\]\}/);
  assert.match(text, /"readOnlyRootFilesystem":true/);
  assert.match(text, /"tolerations":\[\{"operator":"Exists"\}\]/);
  assert.match(text, /"requests":\{"cpu":/);
});

Deno.test("renderDaemonSet() is covered by what the API server makes of it, and not by another image", () => {
  const live = stored(
    DAEMON_SET,
    (json) => json.replace('"imagePullPolicy"', '"terminationMessagePath":"/dev/x","imagePullPolicy"'),
  );
  assert.ok(isCovered(live, DAEMON_SET));
  assert.ok(!isCovered(live, renderDaemonSet(makeOperandConfig(), { ...SETTINGS, image: "other" })));
});
