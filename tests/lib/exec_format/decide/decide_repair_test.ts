import assert from "node:assert/strict";
import { decideRepair, type RepairFacts } from "../../../../lib/exec_format/decide/decide_repair.ts";
import { parsePod } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { makeFailedPod } from "./make.ts";

const REPLICA_SET = { kind: "ReplicaSet", name: "web", controller: true };

function facts(
  overrides: Partial<RepairFacts> = {},
  pod: Parameters<typeof makeFailedPod>[0] = { metadata: { ownerReferences: [REPLICA_SET] } },
): RepairFacts {
  return {
    pod: parsePod(makeFailedPod(pod)) ?? assert.fail("no pod"),
    architecture: "amd64",
    wouldRequire: ["arm64"],
    isPlaced: true,
    liveArchitectures: undefined,
    ...overrides,
  };
}

const owned = (owner: object): Parameters<typeof makeFailedPod>[0] => ({ metadata: { ownerReferences: [owner] } });

const TABLE: readonly (readonly [title: string, facts: RepairFacts, expected: string])[] = [
  ["evicts what would be placed elsewhere", facts(), "evict"],
  ["evicts where nodes of it are known", facts({ liveArchitectures: ["amd64", "arm64"] }), "evict"],
  ["leaves a bare pod", facts({}, {}), "NoOwner"],
  ["leaves the pod of a DaemonSet", facts({}, owned({ kind: "DaemonSet", name: "d", controller: true })), "NoOwner"],
  ["leaves a static pod", facts({}, owned({ kind: "Node", name: "n", controller: true })), "NoOwner"],
  ["leaves a pod whose owner does not control it", facts({}, owned({ ...REPLICA_SET, controller: false })), "NoOwner"],
  ["leaves a pod that has ended", facts({}, { ...owned(REPLICA_SET), phase: "Failed" }), "Ending"],
  [
    "leaves a pod that is being deleted",
    facts({}, { metadata: { ownerReferences: [REPLICA_SET], deletionTimestamp: "2026-11-21T12:00:00Z" } }),
    "Ending",
  ],
  [
    "leaves a pod that is exempt from placement",
    facts({}, {
      metadata: { ownerReferences: [REPLICA_SET], labels: { "multiarch.openshift.io/scheduling-gate": "not-set" } },
    }),
    "ExemptFromPlacement",
  ],
  ["leaves pods while new ones are not gated", facts({ isPlaced: false }), "NotPlacedHere"],
  ["leaves a pod that would not be constrained", facts({ wouldRequire: "unconstrained" }), "NotPlacedHere"],
  ["leaves a pod whose images cannot be inspected", facts({ wouldRequire: "unknown" }), "ImagesUnknown"],
  ["leaves a pod that might come to such a node again", facts({ wouldRequire: ["amd64", "arm64"] }), "NowhereElse"],
  ["leaves a pod that no node could run", facts({ wouldRequire: [] }), "NowhereElse"],
  ["leaves a pod for which there are no nodes", facts({ liveArchitectures: ["amd64"] }), "NowhereElse"],
];
for (const [title, given, expected] of TABLE) {
  Deno.test(`decideRepair() ${title}`, () => {
    const decision = decideRepair(given);
    assert.equal(decision.kind === "leave" ? decision.reason : decision.kind, expected);
  });
}
