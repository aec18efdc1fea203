// What the checks count as seen: words of Archway, not those that anybody else may have written about a pod.
import assert from "node:assert/strict";
import { runChecks } from "./checks.ts";
import type { EndToEndCluster } from "./cluster.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";
import { DEFAULT_IMAGE, parseOptions } from "./options.ts";

/** A cluster in which every pod is bound at once, with these events. */
function makeCluster(events: readonly string[]): EndToEndCluster {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "any" }, spec: { nodeName: "n1" } };
  return {
    namespace: "archway-e2e-1",
    clusterConfig: () => Promise.resolve({ ...pod, kind: "ClusterPodPlacementConfig" }),
    create: () => Promise.resolve(),
    read: () => Promise.resolve(pod),
    events: () => Promise.resolve(events),
    architectureOf: () => Promise.resolve(undefined),
    until: (probe) => probe(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function resultOf(check: string, events: readonly string[]): Promise<string | undefined> {
  const parsed = parseOptions([]);
  assert.ok(parsed.kind === "run");
  const cluster = makeCluster(events);
  const outcomes = await runChecks({
    cluster,
    api: new MemoryCluster().api,
    signal: new AbortController().signal,
    options: parsed.options,
    readMetrics: () => Promise.resolve(""),
  });
  return outcomes.find((outcome) => outcome.check === check)?.result;
}

Deno.test("an unknown image is reported by what Archway says of the image, not by another Warning", async () => {
  const kubelet = 'Warning Failed Failed to pull image "registry.k8s.io/archway-e2e/no-such-image:v1": not found';
  const own = "Warning ArchAwareInspectionError Cannot inspect image";
  const check = "unknown image is reported";
  const missed = "Warning ArchAwareAdmissionMissed The webhook did not see this pod";
  assert.equal(await resultOf(check, [kubelet, missed]), "failed");
  assert.equal(await resultOf(check, [kubelet, own]), "passed");
});

Deno.test("a pod that is bound without the webhook's label was not placed, and text that is no metric is not Archway's", async () => {
  assert.equal(await resultOf(`${DEFAULT_IMAGE} is placed`, []), "failed");
  assert.equal(await resultOf("pinned pod is left alone", []), "failed");
  assert.equal(await resultOf("config is Available", []), "failed");
  assert.equal(await resultOf("metrics", []), "failed");
});
