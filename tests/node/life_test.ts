import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { configure, install, kubectl, NAMESPACE, rolledOut, uninstall } from "./support/install.ts";
import { assertNothingLeft, findLeader, holdDuring, readyAndLed } from "./support/invariants.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { listReplicas, pidsOf, type Replica } from "./support/replicas.ts";
import { hasSecretPaths, servesWith, stageAuthority } from "./support/rotation.ts";
import { addFakeNodes } from "./support/stream.ts";

const PATIENT = { deadlineMs: 60_000 };

async function nodesOfReplicas(lab: OpenLab): Promise<readonly string[]> {
  return [...new Set((await listReplicas(lab)).map(({ node }) => node))];
}

/** How often the kubelet has started the program of a replica again. */
async function restartsOf(lab: OpenLab, { name }: Replica): Promise<number> {
  const path = "jsonpath={.status.containerStatuses[0].restartCount}";
  return Number(await kubectl(lab, "-n", NAMESPACE, "get", "pod", name, "-o", path));
}

async function renewedMs(lab: OpenLab): Promise<number> {
  return Date.parse(await kubectl(lab, "-n", NAMESPACE, "get", "leases", "-o", "jsonpath={.items[*].spec.renewTime}"));
}

async function drain(lab: OpenLab, node: string): Promise<void> {
  const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s"];
  await kubectl(lab, "drain", node, ...flags, "--pod-selector=app.kubernetes.io/name=archway");
}

Deno.test("node: nothing is stuck or misplaced while Archway is rolled out, killed, drained and moved", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await addFakeNodes(lab);
  await install(lab);
  await configure(lab);

  await t.step("the two replicas are on two nodes", async () => {
    assert.equal((await nodesOfReplicas(lab)).length, 2);
  });
  await t.step("a rolling update; they are on two nodes again", async () => {
    await holdDuring(lab, async () => {
      await kubectl(lab, "-n", NAMESPACE, "rollout", "restart", "deployment/archway");
      await rolledOut(lab);
    });
    assert.equal((await nodesOfReplicas(lab)).length, 2);
  });
  await t.step("kill -9 of the leader's process: no pod waits for more than 10 s", async () => {
    const { longestWaitMs } = await holdDuring(lab, async () => {
      const leader = await findLeader(lab);
      const restarts = await restartsOf(lab, leader);
      const pids = await pidsOf(leader);
      assert.notDeepEqual(pids, []);
      const killedMs = Date.now();
      for (const pid of pids) Deno.kill(pid, "SIGKILL");
      // Before the kubelet and the other replica have noticed, all looks as if nothing had happened.
      await waitUntil("the program to run again", async () => await restartsOf(lab, leader) > restarts, PATIENT);
      await waitUntil("the Lease to be renewed", async () => await renewedMs(lab) > killedMs, PATIENT);
      await readyAndLed(lab);
    });
    assert.ok(longestWaitMs <= 10_000, `${longestWaitMs} ms`);
  });
  await t.step("the drain of a node, both replicas on the other one, and the way back", async () => {
    await holdDuring(lab, async () => {
      const [replica] = await listReplicas(lab);
      assert.ok(replica !== undefined);
      await drain(lab, replica.node);
      await rolledOut(lab);
      const nodes = await nodesOfReplicas(lab);
      assert.equal(nodes.length, 1, nodes.join());
      await kubectl(lab, "uncordon", replica.node);
      await kubectl(lab, "-n", NAMESPACE, "rollout", "restart", "deployment/archway");
      await rolledOut(lab);
    });
    assert.equal((await nodesOfReplicas(lab)).length, 2);
  });
  await t.step("a new certificate authority signs, and no call is missed", async () => {
    const { unanswered, fates } = await holdDuring(lab, async () => {
      const authority = await stageAuthority(lab);
      await waitUntil("every replica to serve with the new authority", () => servesWith(lab, authority), {
        deadlineMs: 150_000,
        intervalMs: 1_000,
      });
    });
    assert.deepEqual({ unanswered, missed: fates.missed }, { unanswered: 0, missed: [] });
  });
  await t.step("the API server calls all webhooks by secret paths of their Service", async () => {
    await waitUntil("the secret paths", () => hasSecretPaths(lab), { deadlineMs: 120_000, intervalMs: 1_000 });
  });
  await t.step("three replicas", async () => {
    await holdDuring(lab, async () => {
      await kubectl(lab, "-n", NAMESPACE, "scale", "deployment/archway", "--replicas=3");
      await rolledOut(lab);
      await readyAndLed(lab, 3);
    });
  });
  await t.step("uninstalled in README's order, nothing of it is left", async () => {
    await uninstall(lab);
    await assertNothingLeft(lab);
  });
});
