import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { assertHeld, assertNothingLeft, findLeader, holdDuring, readyAndLed } from "./support/invariants.ts";
import { configure, install, kubectl, NAMESPACE, rolledOut, uninstall } from "./support/install.ts";
import { LAB_NODES } from "./support/lab.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { killNode, startControlPlane, startNode, stopControlPlane } from "./support/outages.ts";
import { leaderOf, listReplicas } from "./support/replicas.ts";
import { addFakeNodes, streamDuring } from "./support/stream.ts";

/** The node that may go: n1 carries API server and registry. */
const VICTIM = "n3";

const NATIVE = LAB_NODES.filter(({ arch }) => arch === "amd64").map(({ name }) => name).sort();

async function nodesOfReplicas(lab: OpenLab): Promise<readonly string[]> {
  return (await listReplicas(lab)).map(({ node }) => node).sort();
}

async function leadOn(lab: OpenLab, node: string): Promise<string> {
  return await waitUntil(`the leader to be on ${node}`, async () => {
    const leader = await findLeader(lab);
    if (leader.node === node) return leader.name;
    // The Lease is given up at a shutdown, and the replica on the other node takes it.
    await kubectl(lab, "-n", NAMESPACE, "delete", "pod", leader.name);
    await rolledOut(lab);
    return undefined;
  }, { deadlineMs: 120_000 });
}

async function nodeIs(lab: OpenLab, name: string, status: string): Promise<boolean> {
  const path = `jsonpath={.status.conditions[?(@.type=="Ready")].status}`;
  return (await kubectl(lab, "get", "node", name, "-o", path)) === status;
}

Deno.test("node: pods are placed on while the node of the leader dies, and after the whole cluster has died", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await addFakeNodes(lab);
  await install(lab);
  await configure(lab);

  await t.step(
    "the node of the leader loses its power: the other replica leads, no pod waits for more than 10 s",
    async () => {
      const lost = await leadOn(lab, VICTIM);
      const { longestWaitMs } = await holdDuring(lab, async () => {
        await killNode(lab, VICTIM);
        await waitUntil("the other replica to lead", async () => {
          const leader = await leaderOf(lab);
          return leader !== "" && !leader.includes(lost);
        }, { deadlineMs: 60_000 });
        // Until then the Service still leads to the lost replica.
        await waitUntil("the node to be found lost", () => nodeIs(lab, VICTIM, "Unknown"), { deadlineMs: 120_000 });
      });
      assert.ok(longestWaitMs <= 10_000, `${longestWaitMs} ms`);
    },
  );
  await t.step("the node comes back: both replicas are ready, on two nodes", async () => {
    await holdDuring(lab, async () => {
      await startNode(lab, VICTIM);
      await readyAndLed(lab);
    });
    assert.deepEqual(await nodesOfReplicas(lab), NATIVE);
  });

  await t.step("the whole cluster loses its power: it comes back by itself, Archway with it", async () => {
    const nodes = lab.lab.hosts.map(({ name }) => name);
    await stopControlPlane(lab);
    await Promise.all(nodes.map((name) => killNode(lab, name)));
    await startControlPlane(lab);
    await using again = await openLab({ leftOvers: "kept" });
    const result = await streamDuring(again, async () => {
      // No replica runs yet, and its webhook is there: what is created now is let pass, Archway's own pods above all.
      await kubectl(again, "-n", NAMESPACE, "delete", "pods", "--all", "--force", "--grace-period=0");
      await Promise.all(nodes.map((name) => startNode(again, name)));
      await readyAndLed(again);
    });
    assertHeld(result);
    const gates = ["get", "pods", "-o", "jsonpath={.items[*].spec.schedulingGates}"];
    assert.equal((await kubectl(again, "-n", NAMESPACE, ...gates)).trim(), "");
    // Machines that come back keep the pods that they had.
    assert.deepEqual(await nodesOfReplicas(again), NATIVE);
    // The API server finds a replica's address some time after the replica is ready: until then its calls stay unanswered.
    await waitUntil("a pod to be placed again", async () => {
      const { fates } = await holdDuring(again, () => Promise.resolve());
      return fates.placed.length > 0;
    }, { deadlineMs: 60_000 });
    await uninstall(again);
    await assertNothingLeft(again);
  });
});
