import assert from "node:assert/strict";
import { type ClusterConfig, parseClusterConfig } from "../../../../../lib/placement/decide/config/config.ts";
import {
  inSelectedNamespaces,
  isUnadmitted,
  unadmittedEvent,
} from "../../../../../lib/placement/decide/events/unadmitted.ts";
import { admit, type Json, make, podOf, valueOf } from "../make.ts";

const settings = make.settings({ operatorNamespace: "archway-system" });
const present = make.configs(make.clusterConfig());

const OF_DAEMON = { ownerReferences: [{ kind: "DaemonSet", name: "d", controller: true }] };
const OF_NODE = { ownerReferences: [{ kind: "Node", name: "n1", controller: true }] };
const OWN_TERMS = { affinity: make.nodeAffinity([make.term(["kubernetes.io/arch", "arm64"])]) };

const ROWS: readonly (readonly [title: string, pod: Json, isUnadmitted: boolean])[] = [
  ["waits without a mark", make.pod(), true],
  ["was given a node by the scheduler", make.pod({ nodeName: "n1" }), true],
  ["constrains the architecture itself", make.pod(OWN_TERMS), false],
  ["is gated", make.gatedPod(), false],
  ["is gated, its label gone", make.gatedPod({}, { labels: {} }), false],
  ["was placed, its labels gone", make.pod({}, { annotations: { "archway.dev/decision": "{}" } }), false],
  ["is of a kube- namespace", make.pod({}, { namespace: "kube-system" }), false],
  ["is of the operator", make.pod({}, { namespace: "archway-system" }), false],
  ["is of a DaemonSet", make.pod({}, OF_DAEMON), false],
  ["mirrors a static pod", make.pod({ nodeName: "n1" }, OF_NODE), false],
  ["is going", make.pod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }), false],
];

for (const [title, pod, expected] of ROWS) {
  Deno.test(`isUnadmitted() is ${expected} when the pod ${title}`, () => {
    assert.equal(isUnadmitted(podOf(pod), present, settings), expected);
  });
}

Deno.test("isUnadmitted() is false for a pod older than the config, or than its namespace selector", () => {
  const createdAt = (creationTimestamp: string): ReturnType<typeof podOf> => podOf(make.pod({}, { creationTimestamp }));
  const config = valueOf(parseClusterConfig({
    metadata: {
      name: "cluster",
      creationTimestamp: "2026-01-01T00:00:00Z",
      managedFields: [
        { manager: "kubectl", time: "2026-03-01T00:00:00Z", fieldsV1: { "f:spec": { "f:namespaceSelector": {} } } },
        { manager: "archway", time: "2026-05-01T00:00:00Z", fieldsV1: { "f:status": { "f:conditions": {} } } },
      ],
    },
    spec: {},
  }));
  const since = (changed: ClusterConfig, created: string): boolean =>
    isUnadmitted(createdAt(created), make.configs(changed), settings);
  const plain = { ...config, selectedSinceMs: Date.parse("2026-01-01T00:00:00Z") };
  assert.deepEqual(
    ["2025-12-31T00:00:00Z", "2026-01-01T00:00:10Z", "2026-02-01T00:00:00Z"].map((created) => since(plain, created)),
    [false, false, true],
  );
  assert.equal(config.selectedSinceMs, Date.parse("2026-03-01T00:00:00Z"));
  assert.equal(since(config, "2026-02-01T00:00:00Z"), false);
  assert.equal(since(config, "2026-04-01T00:00:00Z"), true);
});

Deno.test("isUnadmitted() is false for whatever the webhook has seen", () => {
  for (const [, raw] of ROWS) {
    for (const mayGate of [true, false]) {
      const { after } = admit(raw, { configs: present, settings, mayGate });
      assert.equal(isUnadmitted(podOf(after), present, settings), false);
    }
  }
});

Deno.test("isUnadmitted() is false without a cluster config, and in audit mode", () => {
  const { pod } = make.facts(make.pod());
  assert.equal(isUnadmitted(pod, { cluster: undefined, namespace: [] }, settings), false);
  assert.equal(isUnadmitted(pod, present, { ...settings, audit: true }), false);
});

Deno.test("inSelectedNamespaces() leaves out pods of namespaces that the webhook is not called for", () => {
  const pods = ["shop", "excluded"].map((namespace) => podOf(make.pod({}, { namespace })));
  const namespaceSelector = { matchExpressions: [{ key: "skip", operator: "DoesNotExist" }] };
  const config = valueOf(parseClusterConfig({ metadata: { name: "cluster" }, spec: { namespaceSelector } }));
  const kept = inSelectedNamespaces(
    pods,
    make.configs(config),
    (namespace) => namespace === "excluded" ? { skip: "yes" } : undefined,
  );
  assert.deepEqual(kept.map(({ namespace }) => namespace), ["shop"]);
});

Deno.test("unadmittedEvent() names the pods, within what an event may hold", () => {
  const pods = Array.from({ length: 500 }, (_, index) => podOf(make.pod({}, { name: `web-${index}` })));
  const { type, message } = unadmittedEvent(pods);
  assert.equal(type, "Warning");
  assert.match(message, /without Archway: 500\. .*caBundle.*recreate them.*test-namespace\/web-0, /);
  assert.ok(message.length <= 1024);
});
