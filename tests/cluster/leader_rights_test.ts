import assert from "node:assert/strict";
import { type ClusterAccess, read } from "./support/cluster_access.ts";
import { PodLabel } from "../../lib/names.ts";
import { isReleased, listPodEvents, listPods, renderPod } from "./support/pods.ts";
import { change, forbid, ROLES } from "./support/taken_rights.ts";
import { pause, waitUntil } from "./support/wait.ts";
import { openWorkingBed } from "./support/walk_bed.ts";

const OWN_ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/archway-system/roles";
const IMAGE = "registry.invalid/team/app:1";

const GATE_AGE_MS = 5_000;

/** For the releases that are refused at the deadline, the ones that ask for less, and two processes on a busy machine. */
const SLACK_MS = 4_000;

/** ClusterRoles whose rights pods can do without while they are held: all of them go, or one verb on pods. */
const OTHERS = [
  "archway-pull-secrets",
  "archway-namespaces",
  "archway-configs",
  "archway-webhook",
  "archway-ca-bundles",
];

/** Roles in Archway's namespace whose rights a leader can do without. That of the Lease has tests of its own. */
const OWN = ["archway-self-tls", "archway-webhook-path", "archway-rollout", "archway-monitoring"];

type Take = (cluster: ClusterAccess) => Promise<() => Promise<void>>;

async function releasesWithout(controlPlane: ClusterAccess, take: Take): Promise<void> {
  const namespace = await controlPlane.createNamespace("rightless");
  const giveBack = await take(controlPlane);
  const pods = [IMAGE, `registry.invalid/team/${crypto.randomUUID()}:1`].map((image, at) =>
    renderPod({ name: `pod-${at}`, images: [image], pullSecrets: ["pull"] })
  );
  for (const pod of pods) {
    const answer = await controlPlane.create(`/api/v1/namespaces/${namespace}/pods`, pod);
    assert.notEqual(read(answer, "spec", "schedulingGates"), undefined, "not gated");
  }
  await waitUntil("every pod to be free", async () => (await listPods(controlPlane, namespace)).every(isReleased), {
    deadlineMs: GATE_AGE_MS + SLACK_MS,
  }).finally(giveBack);
}

Deno.test("without get or watch of pods, one of five ClusterRoles or one of four Roles, every pod is released within 9 s at a longest gate age of 5 s", async (t) => {
  await using bed = await openWorkingBed({ replica: { args: [`--max-gate-age=${GATE_AGE_MS}ms`] } });
  const without = (name: string, take: Take) => t.step(name, () => releasesWithout(bed.controlPlane, take));
  for (const verb of ["get", "watch"]) await without(`${verb} pods`, (cluster) => forbid(cluster, verb));
  for (const role of [...OTHERS.map((name) => `${ROLES}/${name}`), ...OWN.map((name) => `${OWN_ROLES}/${name}`)]) {
    await without(role, (cluster) => change(cluster, role, () => []));
  }
});

/** What the Role of the Lease is left with. */
const LEASE_RIGHTS: readonly (readonly [name: string, rules: readonly unknown[]])[] = [
  ["may update the Lease", [{
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["archway.multiarch.openshift.io"],
    verbs: ["get"],
  }]],
  ["may read or update the Lease", []],
];

/** Long enough that a pod which is created after the leader has gone is overdue only when its absence is proven. */
const LEADERLESS_AGE_MS = 20_000;

/** For a leader to come first that is not observed, the looks in between, and three processes on a busy machine. */
const LEADERLESS_SLACK_MS = 8_000;

for (const [name, rules] of LEASE_RIGHTS) {
  Deno.test(`when no replica ${name}, none gates, and each pod gated before is released once, at its deadline, by its gate alone`, async () => {
    await using bed = await openWorkingBed({ replica: { args: [`--max-gate-age=${LEADERLESS_AGE_MS}ms`] } });
    const { controlPlane, archway } = bed;
    const replicas = [
      archway,
      await bed.startReplica({ name: "archway-2", args: [`--max-gate-age=${LEADERLESS_AGE_MS}ms`] }),
    ];
    const namespace = await controlPlane.createNamespace("leaderless");
    const [pods, path] = [["held-0", "held-1", "held-2", "held-3"], `/api/v1/namespaces/${namespace}/pods`];
    const create = (name: string): Promise<unknown> => controlPlane.create(path, renderPod({ name, images: [IMAGE] }));
    const sum = async (metric: string, labels?: Readonly<Record<string, string>>): Promise<number> =>
      (await Promise.all(replicas.map((replica) => replica.metric(metric, labels)))).reduce((one, more) => one + more);
    const sumIs = (metric: string, value: number): Promise<unknown> =>
      waitUntil(`${metric} to be ${value}`, async () => await sum(metric) === value, { deadlineMs: 90_000 });
    const giveBack = await change(controlPlane, `${OWN_ROLES}/archway-election`, () => rules);
    try {
      await sumIs("archway_leader", 0);
      const createdMs = performance.now();
      const before = new Map<string, unknown>();
      for (const pod of pods) before.set(pod, await create(pod));
      const isHeld = async (): Promise<boolean> =>
        (await listPods(controlPlane, namespace)).some((pod) => !isReleased(pod));
      assert.equal(await isHeld(), true, "not gated");
      for (;; await pause(500)) {
        const released = (await listPods(controlPlane, namespace)).filter(isReleased);
        // Ages count from whole seconds.
        if (performance.now() - createdMs >= LEADERLESS_AGE_MS - 1_000) break;
        assert.deepEqual(released, [], "released before its deadline");
      }
      await waitUntil("every pod to be free", async () => !await isHeld(), { deadlineMs: 1_000 + LEADERLESS_SLACK_MS });
      for (const pod of pods) {
        const body = await controlPlane.get(`${path}/${pod}`);
        assert.deepEqual(withoutGate(body), withoutGate(before.get(pod)), "more than the gate was changed");
        const warning = await waitUntil(`the event of ${pod}`, async () => {
          const events = await listPodEvents(controlPlane, { namespace, name: pod });
          return events.find(({ reason }) => reason === "ArchAwareSchedGateLifted");
        });
        assert.equal(warning.type, "Warning");
        assert.match(
          warning.message,
          /no replica of Archway has led for \d+ s.*leases.*archway\.multiarch\.openshift\.io/,
        );
        assert.match(warning.message, /apply Archway's manifests again/);
      }
      assert.equal(
        await sum("archway_decisions_total", { kind: "reduced" }),
        pods.length,
        "each pod was released once",
      );
      await sumIs("archway_gating", 0);
      await create("ungated");
      assert.equal(await isHeld(), false, "a pod was gated though no replica leads");
    } finally {
      await giveBack();
    }
    await sumIs("archway_gating", 2);
    assert.equal(await sum("archway_leader"), 1);
  });
}

/** The pod but for its gate, the label of the gate, and what the API server and the scheduler write. */
function withoutGate(pod: unknown): unknown {
  const { schedulingGates: _gates, nodeName: _node, ...spec } = Object(read(pod, "spec"));
  const { [PodLabel.gate]: _label, ...labels } = Object(read(pod, "metadata", "labels"));
  return { spec, labels, annotations: read(pod, "metadata", "annotations") };
}
