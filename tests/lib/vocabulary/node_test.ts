import assert from "node:assert/strict";
import { parseDisruptionBudget } from "../../../lib/vocabulary/disruption_budget.ts";
import { parseNode } from "../../../lib/vocabulary/node.ts";

const CONDITIONS = [
  { type: "MemoryPressure", status: "False" },
  { type: "Ready", status: "True", message: "kubelet is ready" },
];

Deno.test("parseNode() reads what capabilities need of a node", () => {
  const node = parseNode({
    metadata: {
      name: "n",
      uid: "u",
      resourceVersion: "5",
      labels: { "kubernetes.io/arch": "arm64" },
      annotations: { a: "b" },
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { unschedulable: true, taints: [{ key: "k", effect: "NoSchedule", timeAdded: "2026-01-01T00:00:00Z" }] },
    status: { conditions: CONDITIONS, nodeInfo: { architecture: "amd64", operatingSystem: "linux" } },
  });
  const { name, uid, resourceVersion, annotations, isDeleting } = node;
  assert.deepEqual([name, uid, resourceVersion, annotations, isDeleting], ["n", "u", "5", { a: "b" }, true]);
  assert.deepEqual([node.reportedArchitecture, node.architecture, node.os], ["amd64", "arm64", "linux"]);
  assert.deepEqual([node.isSchedulable, node.isReady, node.readyMessage], [false, true, "kubelet is ready"]);
  const addedMs = Date.parse("2026-01-01T00:00:00Z");
  assert.deepEqual(node.taints, [{ key: "k", value: "", effect: "NoSchedule", addedMs }]);
});

Deno.test("parseNode() takes what the kubelet reports where no label names the architecture, and reads a bare node", () => {
  const reporting = parseNode({ metadata: { name: "n" }, status: { nodeInfo: { architecture: "s390x" } } });
  assert.deepEqual([reporting.architecture, reporting.os], ["s390x", ""]);
  const labelled = parseNode({ metadata: { name: "n", labels: { "kubernetes.io/os": "windows" } } });
  assert.deepEqual([labelled.architecture, labelled.os], ["", "windows"]);
  const bare = parseNode({ metadata: { name: "n" } });
  assert.deepEqual([bare.taints, bare.isSchedulable, bare.isReady, bare.isDeleting], [[], true, false, false]);
});

Deno.test("parseDisruptionBudget() tells no selector from an empty one, and keeps numbers and percentages", () => {
  const metadata = { namespace: "shop", name: "web" };
  const none = { ...metadata, maxUnavailable: undefined, minAvailable: undefined, selector: undefined };
  assert.deepEqual(parseDisruptionBudget({ metadata }), none);
  const spec = { maxUnavailable: 0, minAvailable: "100%", selector: {} };
  const all = { ...none, maxUnavailable: 0, minAvailable: "100%", selector: { kind: "everything" } };
  assert.deepEqual(parseDisruptionBudget({ metadata, spec }), all);
});
