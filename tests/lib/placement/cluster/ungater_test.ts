import assert from "node:assert/strict";
import { openUngater, type UngateOutcome } from "../../../../lib/placement/cluster/ungate.ts";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { PodLabel, SCHEDULING_GATE } from "../../../../lib/names.ts";
import { makePod } from "../../../controllers/make.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";

const NO_LIMIT = { wait: () => Promise.resolve() };
const REF = { namespace: "shop", name: "a", uid: "uid-a" };

function gated(...gates: readonly string[]): KubeObject {
  const pod = makePod("a", { labels: { app: "x", [PodLabel.gate]: "gated" } });
  return { ...pod, spec: { ...Object(pod["spec"]), schedulingGates: gates.map((name) => ({ name })) } };
}

async function ungate(
  cluster: MemoryCluster,
  { before = () => {}, shouldContinue = () => true }: {
    readonly before?: (call: MemoryCall) => void;
    readonly shouldContinue?: () => boolean;
  } = {},
): Promise<UngateOutcome> {
  const ungater = openUngater({ api: cluster.client(before), limiter: NO_LIMIT });
  return await ungater.ungate(REF, { signal: new AbortController().signal, shouldContinue });
}

function openCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.put(Resource.pods, gated("other", SCHEDULING_GATE));
  return cluster;
}

Deno.test("ungate() takes off the gate, pinned by the pod and the gate's place, reports it on the label, and leaves the rest", async () => {
  const cluster = openCluster();
  assert.deepEqual(await ungate(cluster), { kind: "ungated" });
  assert.deepEqual(cluster.patches, [[
    { op: "test", path: "/metadata/uid", value: "uid-a" },
    { op: "replace", path: "/metadata/labels/multiarch.openshift.io~1scheduling-gate", value: "removed" },
    { op: "test", path: "/spec/schedulingGates/1/name", value: SCHEDULING_GATE },
    { op: "remove", path: "/spec/schedulingGates/1" },
  ]]);
  assert.deepEqual(await ungate(cluster), { kind: "gone" });
});

Deno.test("ungate() takes off the gate alone where the label is refused", async () => {
  for (const status of [403, 422]) {
    const cluster = openCluster();
    cluster.beforePatch = (operations) => {
      if (operations.some(({ path }) => path.startsWith("/metadata/labels"))) {
        throw new ApiError("a policy", { status, hasCauses: true });
      }
    };
    assert.deepEqual(await ungate(cluster), { kind: "ungated" });
    assert.deepEqual(cluster.patches.map((patch) => patch.map(({ op }) => op)), [["test", "test", "remove"]]);
  }
});

Deno.test("ungate() reads again when another changed the pod in between", async () => {
  const cluster = openCluster();
  let changes = 0;
  cluster.beforePatch = () => {
    if (changes++ === 0) cluster.put(Resource.pods, gated(SCHEDULING_GATE));
  };
  assert.deepEqual(await ungate(cluster), { kind: "ungated" });
  assert.equal(cluster.patches.length, 1);
});

Deno.test("ungate() writes nothing once it is not to go on, however long it waited for its turn", async () => {
  const cluster = openCluster();
  assert.deepEqual(await ungate(cluster, { shouldContinue: () => false }), { kind: "stopped" });
  assert.deepEqual(cluster.patches, []);
});

Deno.test("ungate() leaves a pod of the same name alone, and one that is being deleted", async () => {
  for (const changes of [{ uid: "uid-b" }, { deletionTimestamp: "2026-11-21T12:00:00Z" }]) {
    const cluster = new MemoryCluster();
    const pod = gated(SCHEDULING_GATE);
    cluster.put(Resource.pods, { ...pod, metadata: { ...pod.metadata, ...changes } });
    assert.deepEqual(await ungate(cluster), { kind: "gone" });
    assert.deepEqual(cluster.patches, []);
  }
});

Deno.test("ungate() reports why it could not", async () => {
  const answers: readonly (readonly [MemoryCall["verb"], number, number])[] = [["get", 503, 0], ["patch", 403, 2], [
    "patch",
    500,
    1,
  ]];
  for (const [verb, status, patches] of answers) {
    let tries = 0;
    const outcome = await ungate(openCluster(), {
      before: (call) => {
        if (call.verb !== verb) return;
        if (verb === "patch") tries++;
        throw new ApiError("not today", { status });
      },
    });
    assert.deepEqual([outcome, tries], [{ kind: "failed", why: "not today" }, patches]);
  }
});
