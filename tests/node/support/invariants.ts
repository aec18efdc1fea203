// What must hold of a stream of pods whatever happens to Archway, and what the tests of its life share.
import assert from "node:assert/strict";
import { waitUntil } from "../../cluster/support/wait.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";
import { confinementOf, leaderOf, listReplicas, pidsOf, type Replica } from "./replicas.ts";
import { streamDuring, type StreamResult } from "./stream.ts";

/**
 * Nothing stuck, misplaced, given up on or refused; a pod is missed only where no replica answered the API server. A pod on a
 * wrong node has a Warning of its kubelet, and so counts as given up on; nothing here keeps the registry away.
 */
export function assertHeld({ pods, fates, failures, unanswered }: StreamResult): void {
  const { stuck, misplaced, "given up": givenUp, missed } = fates;
  assert.deepEqual({ stuck, misplaced, givenUp, failures }, { stuck: [], misplaced: [], givenUp: [], failures: [] });
  assert.ok(pods > 0);
  // The API server counts the calls that it let pass itself.
  assert.ok(missed.length <= unanswered, `${missed.length} missed, ${unanswered} unanswered`);
}

/** Runs a step under a stream of pods, asserts what must hold of it, and gives what it came to. */
export async function holdDuring(lab: OpenLab, event: () => Promise<void>): Promise<StreamResult> {
  const result = await streamDuring(lab, event);
  assertHeld(result);
  return result;
}

/** The replica that leads, as soon as one does. */
export async function findLeader(lab: OpenLab): Promise<Replica> {
  return await waitUntil("one of the replicas to lead", async () => {
    const leader = await leaderOf(lab);
    return leader === "" ? undefined : (await listReplicas(lab)).find(({ name }) => leader.includes(name));
  }, { deadlineMs: 60_000 });
}

/** Waits until as many replicas as wanted are ready and one leads. */
export async function readyAndLed(lab: OpenLab, replicas = 2): Promise<void> {
  await waitUntil("the Lease to be held and the replicas to be ready", async () => {
    const path = "jsonpath={.status.readyReplicas}";
    const ready = await kubectl(lab, "-n", NAMESPACE, "get", "deployment", "archway", "-o", path);
    return ready.trim() === String(replicas) && await leaderOf(lab) !== "";
  }, { deadlineMs: 120_000 });
}

/** Each replica runs as a user of its own, without any capability, on a root that it cannot write. */
export async function assertConfined(replicas: readonly Replica[]): Promise<void> {
  const pids = (await Promise.all(replicas.map(pidsOf))).flat();
  assert.ok(pids.length >= replicas.length, `${pids.length} processes of ${replicas.length} replicas`);
  for (const { user, ...confinement } of await Promise.all(pids.map(confinementOf))) {
    assert.ok(user >= 1_000, `user ${user}`);
    assert.deepEqual(confinement, { capabilities: "0".repeat(16), isRootReadOnly: true });
  }
}

/** Nothing that Archway or its manifests bring to a cluster is there. */
export async function assertNothingLeft(lab: OpenLab): Promise<void> {
  assert.deepEqual(await listLeft(lab, /archway|multiarch/), []);
}

/** What has such a name, of the kinds that are brought, in all namespaces. */
export async function listLeft(lab: OpenLab, name: RegExp): Promise<readonly string[]> {
  const kinds = [
    ...["mutatingwebhookconfigurations", "validatingwebhookconfigurations", "crds", "namespaces"],
    ...["clusterroles", "clusterrolebindings", "priorityclasses", "roles", "rolebindings"],
    ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
  ];
  const names = await kubectl(lab, "get", kinds.join(), "--all-namespaces", "-o", "name");
  return names.split("\n").filter((each) => name.test(each));
}
