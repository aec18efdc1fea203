import assert from "node:assert/strict";
import { explainPod } from "../../../../../lib/placement/decide/explain/explain.ts";
import {
  type ExplainContext,
  failingContainer,
  type PodExplanation,
} from "../../../../../lib/placement/decide/explain/pod_explanation.ts";
import { ARM64, type FactChanges, type Json, make, running, settle } from "../make.ts";

const AROUND: ExplainContext = { ageMs: 3_000, schedulerSays: undefined, participation: "selected" };
const GATE = "multiarch.openshift.io/scheduling-gate";
/** Its label on a pod that was passed by. */
const PASSED = { labels: { [GATE]: "not-set" } };

function decided(raw: Json, changes: FactChanges = {}, around: Partial<ExplainContext> = {}): PodExplanation {
  return explainPod(make.view(settle(raw, changes).after), { ...AROUND, ...around });
}

function told({ summary, why, next }: PodExplanation): string {
  return [summary, ...why, ...next.map((step) => `> ${step}`)].join("\n");
}

Deno.test("explainPod() says of a placed pod what its images share, what it prefers, and nothing to do", () => {
  const configs = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 5)] }));
  const story = decided(make.gatedPod(), { configs });
  assert.equal(story.stage, "pending");
  assert.match(told(story), /run on \{amd64, arm64\}, so it may run only there/);
  assert.match(told(story), /Preferences: arm64:5:ClusterPodPlacementConfig/);
  assert.deepEqual(story.next, []);
  assert.deepEqual(make.view(settle(make.gatedPod(), { configs }).after).record?.images.map(({ image }) => image), [
    "multi",
  ]);
});

Deno.test("explainPod() names the nodes to look at when the scheduler finds none of the architecture", () => {
  const story = decided(make.gatedPod(), {}, { schedulerSays: "0/4 nodes are available." });
  assert.equal(story.stage, "unschedulable");
  assert.match(told(story), /The scheduler says: 0\/4 nodes are available\./);
  assert.match(told(story), /> .*kubectl get nodes -l 'kubernetes\.io\/arch in \(amd64,arm64\)'/);
});

Deno.test("explainPod() says of a waiting pod for how long, how often it failed and why", () => {
  const story = decided(make.gatedPod(running("broken")));
  assert.equal(story.stage, "gated");
  assert.match(told(story), /Held by Archway's gate for 3s/);
  assert.match(told(story), /Inspection fails \(count 1\): .*broken/);
  assert.match(told(story), /> .*asks again by itself/);
  const fresh = explainPod(make.view(make.gatedPod()), AROUND);
  assert.match(told(fresh), /No registry has failed; .*\n> Wait: /);
});

Deno.test("explainPod() reports which container of a scheduled pod does not run, and where to read why", () => {
  const explained = (containerStatuses: readonly Json[], status: Json = {}): string => {
    const raw = { ...make.pod({ nodeName: "n1" }), status: { phase: "Running", containerStatuses, ...status } };
    const pod = explainPod(make.view(raw), { ...AROUND, failing: failingContainer(raw) });
    return `${pod.stage}: ${told(pod)}`;
  };
  const waiting = (reason: string, message = ""): Json => ({ name: "app", state: { waiting: { reason, message } } });
  const running = { name: "side", state: { running: {} } };
  const crashing = explained([running, waiting("CrashLoopBackOff", "back-off 10s restarting")]);
  assert.match(crashing, /^failing: On n1, and its container app does not run: CrashLoopBackOff\.\n/);
  assert.match(crashing, /\nThe kubelet says: back-off 10s restarting\n/);
  assert.match(crashing, /\n> Read what it wrote: kubectl logs p -n test-namespace -c app$/);
  const pulling = explained([waiting("ImagePullBackOff")]);
  assert.match(pulling, /does not run: ImagePullBackOff\./);
  assert.match(pulling, /\n> Read why in its events: kubectl events --for pod\/p -n test-namespace$/);
  const ended = (exitCode: number): Json => ({ name: "app", state: { terminated: { exitCode, reason: "Error" } } });
  assert.match(explained([ended(255)], { phase: "Failed" }), /^failing: .*does not run: Error\./);
  assert.match(explained([ended(1)], { phase: "Succeeded" }), /^scheduled: Succeeded on n1\./);
  for (const fine of [running, waiting("ContainerCreating"), ended(0)]) {
    assert.match(explained([fine]), /^scheduled: Running on n1\./);
  }
  const initContainerStatuses = [{ ...waiting("CrashLoopBackOff"), name: "init" }];
  const initializing = explained([waiting("PodInitializing")], { initContainerStatuses });
  assert.match(initializing, /container init does not run: CrashLoopBackOff/);
});

Deno.test("explainPod() reports what to do about a failure by its reason", () => {
  const failing = (reason: "Unauthorized" | "ManifestUnknown", spec: Json = {}): string => {
    const images = [make.failedImage("broken", { kind: "permanent", reason, message: "no" })];
    return told(decided(make.gatedPod({ ...running("broken"), ...spec }), { images, failedAttempts: 9 }));
  };
  assert.match(failing("ManifestUnknown"), /> Correct the name or the tag/);
  assert.match(failing("Unauthorized"), /> Name a pull secret for the registry/);
  assert.match(
    failing("Unauthorized", { imagePullSecrets: [{ name: "pull" }] }),
    /> Check that the pull secrets of the pod \(pull\)/,
  );
});

Deno.test("explainPod() reports that gating is stopped, of pods that were passed by", () => {
  const around = { ...AROUND, gatingStopped: "NoLeader. New pods are not gated." };
  const passed = told(explainPod(make.view(make.pod({}, PASSED)), around));
  assert.match(
    passed,
    /Gating is stopped: NoLeader\..*\n> Look whether Archway runs.*\n> .*recreate the pod when gating goes on/,
  );
  assert.doesNotMatch(told(decided(make.gatedPod(), {}, around)), /Gating is stopped/);
});

Deno.test("explainPod() sends to `archway ungate` when a pod is held for longer than any gate may last", () => {
  const story = explainPod(make.view(make.gatedPod()), { ...AROUND, ageMs: 600_000 });
  assert.match(told(story), /for 10m/);
  assert.match(told(story), /> .*archway ungate --dry-run/);
});

Deno.test("explainPod() reports which image lacks what when no architecture is shared", () => {
  const story = decided(make.gatedPod(running("single-amd64", "single-arm64")));
  assert.match(told(story), /share no architecture, so no node can run it/);
  assert.match(told(story), /> .*single-amd64 has amd64; single-arm64 has arm64\.\n> Then recreate the pod/);
});

Deno.test("explainPod() reports that it is unknown where a pod runs that fell back or was released", () => {
  const givenUp = { gateAgeMs: 100_000, failedAttempts: 9 };
  const broken = make.gatedPod(running("broken"));
  const released = decided(broken, givenUp);
  assert.match(told(released), /released unconstrained: it may land where they do not run/);
  assert.match(told(released), /> Then recreate the pod/);
  const fallen = decided(broken, { ...givenUp, configs: make.configs(make.clusterConfig({ fallback: "arm64" })) });
  assert.match(told(fallen), /fell back to \{arm64\}; whether they run there is not known/);
  assert.match(told(fallen), /Inspection failed until Archway gave up: .*broken/);
});

Deno.test("explainPod() says of foreign gates, whose they are not", () => {
  const story = decided(make.gatedPod({ schedulingGates: [{ name: GATE }, { name: "kueue.x-k8s.io/admission" }] }));
  assert.equal(story.stage, "held");
  assert.match(told(story), /still held by kueue\.x-k8s\.io\/admission/);
  assert.match(told(story), /> Ask the owner of kueue\.x-k8s\.io\/admission/);
});

Deno.test("explainPod() reports which rule left a pod alone", () => {
  const why = (spec: Json, metadata: Json = {}): string =>
    told(explainPod(make.view(make.pod(spec, { ...PASSED, ...metadata })), AROUND));
  assert.match(why({ nodeSelector: { "kubernetes.io/arch": "s390x" } }), /names the architecture already/);
  assert.match(why({ nodeSelector: { "node-role.kubernetes.io/master": "" } }), /names the control plane/);
  assert.match(why({}, { namespace: "kube-system" }), /kube-\*, .* namespaces are exempt/);
  const ownerReferences = [{ kind: "DaemonSet", name: "d", controller: true }];
  assert.match(why({}, { ownerReferences }), /one pod for each node/);
  assert.match(why({ nodeName: "n1" }), /Scheduled on n1\.\n.*came with a node name/);
});

Deno.test("Q-09 explainPod() names the taints of architectures that a pod tolerates which Archway left alone", () => {
  const tolerations = ["amd64", "arm64"].map((value) => ({ key: "supported-arch", operator: "Equal", value }));
  const said = (spec: Json): string => told(explainPod(make.view(make.pod(spec, PASSED)), AROUND));
  assert.match(said({ tolerations }), /It tolerates the taint supported-arch of amd64, arm64\./);
  assert.doesNotMatch(said({ tolerations: [{ operator: "Exists" }] }), /tolerates/);
});

Deno.test("explainPod() reports why a pod has no mark of Archway at all, and how to change that", () => {
  const unseen = (participation: ExplainContext["participation"]): string =>
    told(explainPod(make.view(make.pod()), { ...AROUND, participation }));
  assert.match(unseen("off"), /pod placement is off\.\n> Create a ClusterPodPlacementConfig/);
  assert.match(unseen("not-selected"), /does not select its namespace\.\n> Label the namespace/);
  assert.match(unseen("audited"), /audit mode\.\n> .*kubectl events --for pod\/p -n test-namespace/);
  assert.match(unseen("selected"), /older than the webhook.*\n> .*recreate/);
  assert.match(unseen("unread"), /not selected, or the webhook was away.*\n> .*recreate/);
});
