// Archway's own life on real nodes, under a stream of pods: nothing is stuck and nothing misplaced, whatever happens to a replica.
import assert from "node:assert/strict";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { configure, ensureImage, install, kubectl, NAMESPACE, ON_NATIVE_NODES, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { addFakeNodes, streamDuring } from "./support/stream.ts";
import { leaderOf, listReplicas, pidsOf, type Replica } from "./support/replicas.ts";

/** SIGKILL for the program of a pod. */
async function killProcesses(replica: Replica): Promise<void> {
  for (const pid of await pidsOf(replica)) Deno.kill(pid, "SIGKILL");
}

async function rolledOut(lab: OpenLab): Promise<void> {
  await kubectl(lab, "-n", NAMESPACE, "rollout", "status", "deployment/archway", "--timeout=120s");
}

Deno.test("node: nothing is stuck or misplaced while Archway is rolled out, killed, drained and moved", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const image = await ensureImage(lab);
  await addFakeNodes(lab);
  await install(lab, { image, args: [`--insecure-registry=${lab.lab.registry}`], patch: ON_NATIVE_NODES });
  await configure(lab);

  const holds = async (name: string, event: () => Promise<void>): Promise<void> => {
    await t.step(name, async () => {
      const result = await streamDuring(lab, event);
      const { stuck, misplaced, missed } = result.fates;
      assert.deepEqual({ stuck, misplaced, failures: result.failures }, { stuck: [], misplaced: [], failures: [] });
      assert.ok(result.pods > 0);
      // A call that no replica answered lets the pod pass; the API server counts those itself.
      assert.ok(missed.length <= result.unanswered, `${missed.length} missed, ${result.unanswered} unanswered`);
    });
  };

  await t.step("the two replicas are on two nodes", async () => {
    const nodes = (await listReplicas(lab)).map(({ node }) => node);
    assert.deepEqual([...new Set(nodes)].length, 2, nodes.join());
  });
  await holds("a rolling update", async () => {
    await kubectl(lab, "-n", NAMESPACE, "rollout", "restart", "deployment/archway");
    await rolledOut(lab);
  });
  await t.step("after it they are on two nodes again", async () => {
    const nodes = (await listReplicas(lab)).map(({ node }) => node);
    assert.deepEqual([...new Set(nodes)].length, 2, nodes.join());
  });
  await holds("kill -9 of the leader's process", async () => {
    const replica = await waitUntil("one of the replicas to lead", async () => {
      const leader = await leaderOf(lab);
      return (await listReplicas(lab)).find(({ name }) => leader.includes(name));
    });
    await killProcesses(replica);
    await waitUntil("the Lease to be held and the pods to be ready", async () => {
      const ready = await kubectl(
        lab,
        "-n",
        NAMESPACE,
        "get",
        "deployment",
        "archway",
        "-o",
        "jsonpath={.status.readyReplicas}",
      );
      return ready.trim() === "2" && await leaderOf(lab) !== "";
    }, { deadlineMs: 60_000 });
  });
  await holds("the drain of a node", async () => {
    const [replica] = await listReplicas(lab);
    assert.ok(replica !== undefined);
    const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s"];
    await kubectl(lab, "drain", replica.node, ...flags, "--pod-selector=app.kubernetes.io/name=archway");
    await kubectl(lab, "uncordon", replica.node);
    await rolledOut(lab);
  });
  await holds("three replicas", async () => {
    await kubectl(lab, "-n", NAMESPACE, "scale", "deployment/archway", "--replicas=3");
    await rolledOut(lab);
  });
  await t.step("uninstalled in README's order, nothing of it is left", async () => {
    await uninstall(lab);
    const left = await kubectl(lab, "get", "mutatingwebhookconfigurations,crds", "-o", "name");
    assert.equal(/multiarch|archway/.test(left), false, left);
  });
});
