import assert from "node:assert/strict";
import { type ClusterAccess, read } from "./support/cluster_access.ts";
import { createPods, isReleased, isScheduled, listPodEvents, podsOf, waitForPod, waitForPods } from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

const FAILED = "ArchAwareInspectionError";
const FELL_BACK = "ArchAwareFallbackPredicateSet";
const RELEASED = "ArchAwareSchedGateRemovalSuccess";
const NOWHERE = "NoSupportedArchitecturesFound";
const ARGS = ["--max-gate-age=12s"];
const PODS = 40;

interface Told {
  readonly pod: string;
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** The events of Archway about pods of the namespace. Never more than three of a pod. */
async function listTold(cluster: ClusterAccess, namespace: string): Promise<readonly Told[]> {
  const told = (await cluster.list(`/api/v1/namespaces/${namespace}/events`))
    .filter((event) => read(event, "source", "component") === "multiarch-tuning-operator")
    .map((event) => ({
      pod: String(read(event, "involvedObject", "name")),
      uid: String(read(event, "involvedObject", "uid")),
      type: String(read(event, "type")),
      reason: String(read(event, "reason")),
      message: String(read(event, "message")),
      count: Number(read(event, "count")),
    }));
  for (const [pod, events] of Map.groupBy(told, (one) => one.uid)) {
    assert.ok(events.length <= 3, `${pod}: ${events.map(({ reason }) => reason).join()}`);
  }
  return told;
}

Deno.test("events: at most three a pod through failures, a killed leader and a burst, the fallback always reported", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "amd64" }, replica: { args: ARGS } });
  const { controlPlane, proxy } = bed;
  const namespace = await controlPlane.createNamespace("failing");
  proxy.setFaults([{ fault: { kind: "status", status: 500 } }]);
  const pods = podsOf("p", [0, 1, 2, 3].map((n) => `${proxy.host}/flaky/app-${n}:v1`), PODS);
  await createPods(controlPlane, namespace, { pods });
  const failures = (says: RegExp): Promise<unknown> =>
    waitUntil(`a failure that says ${says}`, async () => {
      const told = await listTold(controlPlane, namespace);
      return told.some(({ reason, message }) => reason === FAILED && says.test(message));
    });
  await failures(/500/);
  proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  await failures(/503/);
  bed.archway.kill("SIGKILL");
  await bed.startReplica({ args: ARGS });
  await waitForPods(controlPlane, namespace, { count: PODS, until: isReleased });
  const told = await waitUntil("the last events", async () => {
    const all = await listTold(controlPlane, namespace);
    return all.filter(({ reason }) => reason === RELEASED).length === PODS && all.length >= 3 * PODS && all;
  });
  for (const { name, images: [image = ""] } of pods) {
    const own = told.filter((one) => one.pod === name);
    assert.deepEqual(own.map(({ reason }) => reason).sort(), [FELL_BACK, FAILED, RELEASED]);
    const said = own.find(({ reason }) => reason === FAILED)?.message ?? "";
    for (const words of [`"${image}"`, ` at ${proxy.host} `, "Gave up"]) assert.ok(said.includes(words), said);
    assert.ok(own.filter(({ type }) => type === "Warning").length === 2);
  }
});

Deno.test("events: pods of known images", async (test) => {
  await using bed = await openWorkingBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("known");
  await test.step("a pod that no node can run is reported also when its images are known", async () => {
    const images = [await bed.push("known/amd64", index("amd64")), await bed.push("known/arm64", index("arm64"))];
    for (const name of ["first", "second"]) {
      await createPods(controlPlane, namespace, { pods: [{ name, images }] });
      const [told] = await waitUntil(`the warning of ${name}`, async () => {
        const all = (await listTold(controlPlane, namespace)).filter(({ pod, reason }) =>
          pod === name && reason === NOWHERE
        );
        return all.length > 0 && all;
      });
      assert.match(told?.message ?? "", /known\/amd64:v1 \(sha256:\w{12}\): amd64; .*known\/arm64:v1 .*: arm64/);
      const body = await controlPlane.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
      assert.equal(told?.uid, read(body, "metadata", "uid"));
    }
  });
  await test.step("a pod that the webhook places has a decision record and no event", async () => {
    const image = await bed.push("known/web", index("arm64"));
    await createPods(controlPlane, namespace, { pods: [{ name: "cold", images: [image] }] });
    await waitForPod(controlPlane, { namespace, name: "cold" }, isScheduled);
    await createPods(controlPlane, namespace, { pods: [{ name: "warm", images: [image] }] });
    const warm = await waitForPod(controlPlane, { namespace, name: "warm" }, isScheduled);
    assert.deepEqual(warm.requiredArchitectures, [["arm64"]]);
    assert.match(warm.annotations["archway.dev/decision"] ?? "", /"d":"place"/);
    await waitUntil("the events of the pod before it", async () => {
      const events = await listPodEvents(controlPlane, { namespace, name: "cold" });
      return events.some(({ reason }) => reason === RELEASED);
    });
    assert.deepEqual((await listTold(controlPlane, namespace)).filter(({ pod }) => pod === "warm"), []);
  });
});
