import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { finalizersOf } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { type Config, scoring } from "../support/walk/preference_rows.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { configure, install, kubectl, plainRegistry, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";

const API_VERSION = "multiarch.openshift.io/v1beta1";
const CLUSTER = `/apis/${API_VERSION}/clusterpodplacementconfigs/cluster`;
const KEPT = "finalizers.multiarch.openshift.io/no-pod-placement-config";
const TWICE = scoring(true, ["amd64", 50], ["amd64", 100]);

type LocalConfig = Pick<Config, "name"> & { readonly priority?: number; readonly plugins?: unknown };

/** What kubectl says: that it is done, or why it is not. */
async function apply(lab: OpenLab, kind: string, { name, namespace, spec }: {
  readonly name: string;
  readonly namespace?: string;
  readonly spec: unknown;
}): Promise<string> {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const stdin = JSON.stringify({ apiVersion: API_VERSION, kind, metadata, spec });
  const { stdout, stderr } = await lab.kubectl(["apply", "-f", "-"], { stdin });
  return stdout + stderr;
}

/** Waits until the config has the finalizer of namespace configs, or has it no longer. */
async function waitForKept(lab: OpenLab, isKept: "kept" | "free"): Promise<void> {
  await waitUntil(`the config to be ${isKept}`, async () => {
    return (await finalizersOf(lab, CLUSTER)).includes(KEPT) === (isKept === "kept");
  }, { deadlineMs: 60_000 });
}

async function walkLocalConfigs(t: Deno.TestContext, lab: OpenLab, namespace: string): Promise<void> {
  const local = (config: LocalConfig): Promise<string> => {
    const { name, ...spec } = { plugins: scoring(true, ["amd64", 50]), ...config };
    return apply(lab, "PodPlacementConfig", { name, namespace, spec });
  };
  const remove = (name: string): Promise<string> => kubectl(lab, "-n", namespace, "delete", "podplacementconfig", name);
  await t.step("EP-01 PC-07 an architecture that comes twice is refused", async () => {
    assert.match(await local({ name: "twice", plugins: TWICE }), /denied the request: duplicate architecture "amd64"/);
  });
  await t.step("EP-02 M2-05 PC-08 a priority that is taken is refused", async () => {
    assert.match(await local({ name: "one", priority: 50 }), /created/);
    assert.match(await local({ name: "two", priority: 50 }), /denied the request: priority 50 already used by "one"/);
  });
  await t.step("M2-06 an absent priority is zero", async () => {
    assert.match(await local({ name: "absent" }), /created/);
    assert.match(await local({ name: "zero", priority: 0 }), /priority 0 already used by "absent"/);
    await remove("absent");
  });
  await t.step("EP-03 PC-09 an update to a priority that is taken is refused", async () => {
    assert.match(await local({ name: "two", priority: 30 }), /created/);
    assert.match(await local({ name: "two", priority: 50 }), /denied the request: priority 50 already used by "one"/);
  });
  await t.step("EX-12 M2-02 the cluster config stays while there are namespace configs", async () => {
    await waitForKept(lab, "kept");
    const { code, stderr } = await lab.kubectl(["delete", "clusterpodplacementconfig", "cluster"]);
    assert.notEqual(code, 0);
    assert.match(stderr, /denied the request: .*local PodPlacementConfigs still exist \(.*one.*two/);
  });
  await t.step("EP-04 PC-10 a priority that was freed is accepted", async () => {
    await remove("one");
    assert.match(await local({ name: "three", priority: 50 }), /created/);
  });
  await t.step("EP-05 EX-13 the finalizer leaves with the last namespace config", async () => {
    await remove("two");
    assert.ok((await finalizersOf(lab, CLUSTER)).includes(KEPT));
    await remove("three");
    await waitForKept(lab, "free");
  });
}

/** A pod whose registry never answers keeps Archway at work until it is gone. */
async function assertWaitsForGated(lab: OpenLab, namespace: string): Promise<void> {
  const gates = ["-n", namespace, "get", "pod", "gated", "-o", "jsonpath={.spec.schedulingGates[*].name}"];
  await waitUntil("a pod to be gated", async () => {
    await lab.kubectl(["-n", namespace, "delete", "pod", "gated", "--force", "--ignore-not-found"]);
    const containers = [{ name: "app", image: "registry.invalid/team/app:v1" }];
    await lab.createPod(namespace, { name: "gated", spec: { dnsPolicy: "Default", containers } });
    return (await kubectl(lab, ...gates)).includes("multiarch.openshift.io/scheduling-gate");
  }, { deadlineMs: 60_000 });
  await kubectl(lab, "delete", "clusterpodplacementconfig", "cluster", "--wait=false");
  await waitUntil("it to be leaving, its webhook gone", async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="Deprovisioning")].status}';
    const status = await kubectl(lab, "get", "clusterpodplacementconfig", "cluster", "-o", path);
    const webhooks = await kubectl(lab, "get", "mutatingwebhookconfigurations", "-o", "name");
    return status === "True" && !webhooks.includes("pod-placement");
  }, { deadlineMs: 60_000 });
  assert.equal((await lab.request("GET", CLUSTER)).status, 200);
  assert.match(await kubectl(lab, ...gates), /scheduling-gate/);
  await kubectl(lab, "-n", namespace, "delete", "pod", "gated");
  await waitUntil("the config to be gone", async () => !await lab.exists(CLUSTER), {
    deadlineMs: 60_000,
  });
}

Deno.test("node: configs are checked by the webhooks of an installed Archway, and it leaves after its pods", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  // Its gated pod is to outlast the test.
  await install(lab, { args: [plainRegistry(lab), "--max-gate-age=600s"] });
  const namespace = await lab.createNamespace("configs");
  await t.step("EX-11 M2-01 a namespace config without a cluster config is refused", async () => {
    const lonely = { name: "lonely", namespace, spec: { priority: 1, plugins: {} } };
    // The webhook fails closed until the leader has written its CA.
    const said = await waitUntil("the webhook to answer", async () => {
      const text = await apply(lab, "PodPlacementConfig", lonely);
      return !text.includes("failed calling webhook") && text;
    }, { deadlineMs: 60_000 });
    assert.match(said, /does not exist: create it first/);
  });
  await t.step("EX-18 186 a cluster config with an architecture twice is refused", async () => {
    const said = await apply(lab, "ClusterPodPlacementConfig", { name: "cluster", spec: { plugins: TWICE } });
    assert.match(said, /denied the request: .*"amd64"/);
  });
  await configure(lab);
  await walkLocalConfigs(t, lab, namespace);
  await t.step("EX-17 91 it leaves when the last gated pod is gone", () => assertWaitsForGated(lab, namespace));
  await uninstall(lab);
  await assertNothingLeft(lab);
});
