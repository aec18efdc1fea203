// Architecture taints on kubelets: what runs goes on running, new pods run where their images do, and a node that registers
// with the taint is left as it is.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { FROZEN, refuseUpdates } from "../cluster/support/refused_updates.ts";
import { archwayRequests, taintsByNode, waitForPhase, waitForTaints } from "../cluster/support/taint_bed.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { configure, install, kubectl, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { killNode, startNode } from "./support/outages.ts";

const RIGHT = { n1: "amd64:NoSchedule", n3: "amd64:NoSchedule", n2: "arm64:NoSchedule" };
const COMPONENTS = ["arch-taints"];

/** Node, phase, restarts and identity of a pod in a line. */
async function standing(lab: OpenLab, namespace: string, name: string): Promise<string> {
  const body = await lab.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  const restarts = read(body, "status", "containerStatuses", "0", "restartCount");
  return [read(body, "metadata", "uid"), read(body, "spec", "nodeName"), read(body, "status", "phase"), restarts].join(
    " ",
  );
}

Deno.test("node: architecture taints: what runs stays, new pods run, a kubelet registers with its taint", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const namespace = await lab.createNamespace("taints");
  const before = [["on-amd", "amd64"], ["on-arm", "arm64"]] as const;
  await lab.createPods(namespace, before.map(([name, arch]) => ({ name, image: "multi", args: ["pause"], arch })));
  for (const [name] of before) {
    await waitUntil(`${name} to run`, async () => (await standing(lab, namespace, name)).includes(" Running "), {
      deadlineMs: 120_000,
    });
  }
  const stood = await Promise.all(before.map(([name]) => standing(lab, namespace, name)));
  await install(lab, { components: COMPONENTS });
  await configure(lab, { namespaceSelector: { matchExpressions: [{ key: "unseen", operator: "DoesNotExist" }] } });
  await t.step("every node gets its taint, and no running pod is touched by it", async () => {
    const isDone = "--for=condition=ArchitectureTaints";
    await kubectl(lab, "wait", isDone, "clusterpodplacementconfig/cluster", "--timeout=120s");
    assert.deepEqual(await taintsByNode(lab), RIGHT);
    assert.deepEqual(await Promise.all(before.map(([name]) => standing(lab, namespace, name))), stood);
  });
  await t.step("new pods run where their images do", async () => {
    await lab.createPods(
      namespace,
      ["amd-index", "arm-single", "multi"].map((name) => ({ name, image: name, args: ["hello"] })),
    );
    for (const name of ["amd-index", "arm-single", "multi"]) {
      await lab.logOfEnded(namespace, name);
      const [, node, phase] = (await standing(lab, namespace, name)).split(" ");
      assert.equal(phase, "Succeeded", name);
      if (name === "arm-single") assert.equal(node, "n2");
      if (name === "amd-index") assert.notEqual(node, "n2");
    }
  });
  await t.step(
    "a pod that nobody may change finds no node: no node is tainted until it does, then it runs",
    async () => {
      const unseen = await lab.createNamespace("refused", { unseen: "yes" });
      const lift = await refuseUpdates(lab, unseen);
      const containers = [{ name: "app", image: lab.image("multi"), args: ["hello"] }];
      const spec = { restartPolicy: "Never", nodeSelector: { "kubernetes.io/arch": "arm64" }, containers };
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "frozen", labels: FROZEN }, spec };
      await waitUntil("the pod to be created", async () => {
        return (await lab.request("POST", `/api/v1/namespaces/${unseen}/pods`, pod)).status === 201;
      });
      await waitForPhase(lab, "False Paused");
      await kubectl(lab, "taint", "node", "n3", "supported-arch-");
      await waitForPhase(lab, "False Paused: Paused at 2 of 3 nodes");
      assert.deepEqual(await taintsByNode(lab), { ...RIGHT, n3: "" });
      await lift();
      await lab.logOfEnded(unseen, "frozen");
      assert.match(await standing(lab, unseen, "frozen"), / n2 Succeeded /);
      await waitForTaints(lab, RIGHT);
      await waitForPhase(lab, "True Done");
    },
  );
  await t.step("a kubelet that registers with the taint has it before Archway has written anything", async () => {
    const host = lab.lab.hosts.find(({ name }) => name === "n3");
    const file = `${host?.directory}/register-with-taints`;
    await killNode(lab, "n3");
    await kubectl(lab, "delete", "node", "n3");
    await Deno.writeTextFile(file, "supported-arch=amd64:NoSchedule");
    const sinceMs = Date.now();
    await startNode(lab, "n3");
    await Deno.remove(file);
    await waitForTaints(lab, RIGHT);
    const writes = (await archwayRequests(lab)).filter(({ verb, resource, name, receivedMs }) =>
      verb === "patch" && resource === "nodes" && name === "n3" && receivedMs >= sinceMs
    );
    assert.deepEqual(writes, []);
  });
  await t.step("with the config the taints go", async () => {
    // A replica may still be on its way back from the node that was away.
    await waitUntil("the config to be deletable", async () => {
      const gone = ["delete", "clusterpodplacementconfig", "cluster", "--ignore-not-found", "--timeout=90s"];
      return (await lab.kubectl(gone)).code === 0;
    }, { deadlineMs: 120_000, intervalMs: 1_000 });
    await waitForTaints(lab, { n1: "", n2: "", n3: "" });
    await uninstall(lab, { components: COMPONENTS });
    await assertNothingLeft(lab);
  });
});
