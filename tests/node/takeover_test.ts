// From the Multiarch Tuning Operator and back, on nodes: its objects and gated pods, without its processes, are taken over, and
// handed back as docs/migration.md says.
import assert from "node:assert/strict";
import { Finalizer, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import { lacks } from "../support/needs.ts";
import { finalizersOf, read } from "../cluster/support/cluster_access.ts";
import { clusterConfig, CONFIG, CONFIGS, POD_WEBHOOK } from "../cluster/support/objects.ts";
import { createPods, isReleased, listPods, type PodSpec, waitForPods } from "../cluster/support/pods.ts";
import {
  claimAvailable,
  REFERENCE_NAMESPACE,
  renderOperand,
  renderReferenceManifests,
  renderReferenceWebhook,
} from "../cluster/support/reference.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { install, kubectl, plainRegistry } from "./support/install.ts";
import { listLeft } from "./support/invariants.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const WAITING = { [SCHEDULING_GATE]: "gated", "multiarch.openshift.io/node-affinity": "not-set" };
const QUICK = { dnsPolicy: "Default", terminationGracePeriodSeconds: 1 };

/** What it leaves: config with finalizers, operand Deployment, webhook configuration, gated pods. */
async function layOut(lab: OpenLab, namespace: string): Promise<void> {
  const items = (await renderReferenceManifests()).filter((object) =>
    read(object, "kind") !== "ValidatingWebhookConfiguration"
  );
  await lab.apply(items);
  await kubectl(lab, "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s");
  const left = clusterConfig({ fallbackArchitecture: "amd64" }, { finalizers: [Finalizer.podPlacement] });
  const config = await lab.create(CONFIGS, left);
  await claimAvailable(lab);
  await lab.apply([renderOperand()]);
  await lab.apply([renderReferenceWebhook(String(read(config, "metadata", "uid")))]);
  const arm = { images: [lab.image("arm-single")], gates: [SCHEDULING_GATE], spec: QUICK };
  const pods: readonly PodSpec[] = [
    { name: "waiting", ...arm, labels: WAITING },
    { name: "unlabelled", ...arm },
    { name: "multi", ...arm, images: [lab.image("multi")], labels: WAITING },
  ];
  await waitUntil("the ServiceAccount", async () => {
    const { code } = await lab.kubectl(["-n", namespace, "get", "serviceaccount", "default"]);
    return code === 0;
  });
  await createPods(lab, namespace, { pods });
}

/** Runs the commands of a step of docs/migration.md, "To Archway", that begin with these words. */
async function runStep(lab: OpenLab, step: number, verbs: readonly string[]): Promise<void> {
  const page = await Deno.readTextFile(`${ROOT}docs/migration.md`);
  const [, block = ""] = new RegExp(`\n${step}\\. [^]*?\`\`\`sh\n([^]*?)\`\`\``).exec(page) ?? [];
  const lines = block.replaceAll(/\\\n/g, "").replaceAll(" NAMESPACE", ` ${REFERENCE_NAMESPACE}`).split("\n");
  const commands = lines.map((line) => line.trim()).filter((line) => verbs.some((verb) => line.startsWith(verb)));
  assert.ok(commands.length >= verbs.length, block);
  for (const command of commands) await kubectl(lab, ...command.split(/ +/).slice(1));
}

/** The commands of docs/migration.md, "Back", after the objects of the MTO. */
async function runWayBack(lab: OpenLab): Promise<void> {
  const page = await Deno.readTextFile(`${ROOT}docs/migration.md`);
  const [, block = ""] = /## Back\n[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
  const commands = block.split("\n").filter((line) => line.startsWith("kubectl "));
  assert.ok(commands.length >= 6, block);
  for (const command of commands) {
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1);
    if (words.includes("multiarch-tuning-operator.yaml")) {
      await lab.apply(await renderReferenceManifests());
    } else await kubectl(lab, ...words);
    if (words[0] === "scale") await waitForNoReplica(lab);
  }
}

async function waitForNoReplica(lab: OpenLab): Promise<void> {
  await waitUntil("the replicas to go", async () => {
    return (await kubectl(lab, "-n", "archway-system", "get", "pods", "-o", "name")).trim() === "";
  }, { deadlineMs: 60_000 });
}

Deno.test("node: what the Multiarch Tuning Operator leaves is taken over, and handed back with its gated pods", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const namespace = await lab.createNamespace("taken");
  await layOut(lab, namespace);

  await t.step("taken over: its gated pods run where their images do, its Deployment can go", async () => {
    await install(lab, { components: ["migration"], args: [plainRegistry(lab), "--max-gate-age=600s"] });
    await runStep(lab, 3, ["kubectl -n archway-system rollout status", "kubectl wait"]);
    const running = ({ phase }: { readonly phase: string }): boolean => phase === "Running";
    const pods = await waitForPods(lab, namespace, { count: 3, until: running, deadlineMs: 90_000 });
    const onArm = pods.filter(({ nodeName }) => nodeName === "n2").map(({ name }) => name);
    assert.ok(["unlabelled", "waiting"].every((name) => onArm.includes(name)), onArm.join());
    const body = await lab.get(POD_WEBHOOK);
    assert.equal(read(body, "webhooks", "0", "clientConfig", "service", "namespace"), "archway-system");
    await runStep(lab, 4, ["kubectl delete -n"]);
    const left = await kubectl(lab, "-n", REFERENCE_NAMESPACE, "get", "deployments,daemonsets", "-o", "name");
    assert.equal(left.trim(), "");
  });

  await t.step("handed back: config, finalizers and gated pods are there, and nothing of Archway", async () => {
    await createPods(lab, namespace, {
      pods: [{ name: "gated", images: ["registry.invalid/team/app:1"], spec: QUICK }],
    });
    const isGated = async (): Promise<boolean> =>
      (await listPods(lab, namespace)).some((pod) => pod.name === "gated" && !isReleased(pod));
    await waitUntil("the pod to be gated", isGated);
    await runWayBack(lab);
    assert.ok(await isGated());
    assert.deepEqual(await finalizersOf(lab, CONFIG), [Finalizer.podPlacement]);
    assert.equal(read(await lab.get(CONFIG), "spec", "fallbackArchitecture"), "amd64");
    assert.deepEqual(await listLeft(lab, /archway/), []);
  });

  await t.step("its own controller can lift the gate, and its operator leave", async () => {
    const patch = { metadata: { labels: { [SCHEDULING_GATE]: "removed" } }, spec: { schedulingGates: null } };
    await lab.patch(`/api/v1/namespaces/${namespace}/pods/gated`, patch);
    await waitUntil("the pod to be bound", async () => {
      return (await listPods(lab, namespace)).some(({ name, nodeName }) => name === "gated" && nodeName !== "");
    });
    await kubectl(lab, "delete", "validatingwebhookconfiguration", WebhookName.validatingConfiguration);
    await kubectl(lab, "delete", "clusterpodplacementconfig", "cluster", "--wait=false");
    await lab.patch(CONFIG, { metadata: { finalizers: null } });
    await waitUntil("the config to go", async () => !await lab.exists(CONFIG));
    await kubectl(lab, "delete", "mutatingwebhookconfiguration", WebhookName.configuration, "--ignore-not-found");
    await kubectl(lab, "delete", "-k", `${ROOT}manifests/base/crds`, "--timeout=60s");
    await kubectl(lab, "delete", "namespace", namespace, REFERENCE_NAMESPACE, "--wait=false");
  });
});
