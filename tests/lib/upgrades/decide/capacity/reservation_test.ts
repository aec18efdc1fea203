// Spare capacity: what is cloned, waited for and taken away, from what is there. Faults of reads and writes are the shell's:
// tests/controllers/upgrades.
import assert from "node:assert/strict";
import { parseMachine } from "../../../../../lib/vocabulary/machines.ts";
import { cloneForCapacity, cloneForSmoke } from "../../../../../lib/upgrades/decide/capacity/clones.ts";
import { parseMachineSetView } from "../../../../../lib/upgrades/decide/capacity/machine_set_view.ts";
import {
  canScale,
  type CapacityFacts,
  decideRemoval,
  decideReservation,
  type Reservation,
} from "../../../../../lib/upgrades/decide/capacity/reservation.ts";
import { smokeStateOf } from "../../../../../lib/upgrades/decide/capacity/smoke.ts";
import type { KubeObject } from "../../../../../lib/k8s/types.ts";
import { machine, machineSet, minutes, node, NOW_MS } from "../make.ts";

function facts(
  machineSets: readonly KubeObject[],
  machines: readonly KubeObject[] = [],
  readyNodes: readonly string[] = [],
): CapacityFacts {
  return {
    machineSets: machineSets.map(parseMachineSetView),
    machines: machines.map(parseMachine),
    readyNodes: new Set(readyNodes),
    nowMs: NOW_MS,
  };
}

function reserve(given: CapacityFacts, ...extraPools: readonly string[]): Reservation {
  return decideReservation(given, { extraPools, timeoutMs: minutes(30) });
}

function kindOf(plan: Reservation): string {
  return plan.kind === "state" ? plan.state.kind : plan.kind;
}

function created(plan: Reservation): readonly string[] {
  return plan.kind === "state" ? plan.create.map(({ metadata }) => metadata.name) : [];
}

const TWIN = { temporary: true, pool: "" } as const;
const RUNNING = machine("m-1", { set: "a-upgrade", node: "n-1" });

Deno.test("M-270 canScale() holds when a MachineSet of the workers is there", () => {
  assert.equal(canScale(facts([])), false);
  assert.equal(canScale(facts([machineSet("infra", { pool: "infra" })])), false);
  assert.equal(canScale(facts([machineSet("a")])), true);
});

Deno.test("M-273 decideReservation() names what cannot be cloned: no workers and no pattern, no workers and a pattern without match", () => {
  assert.equal(kindOf(reserve(facts([]))), "impossible");
  const plan = reserve(facts([machineSet("infra", { pool: "infra" })]), "gpu-*");
  const words =
    "no MachineSet is labelled hive.openshift.io/machine-pool=worker, and none is of a pool that matches gpu-*";
  assert.equal(plan.kind === "nothingToClone" ? plan.message : "", words);
});

Deno.test("M-274 M-282 M-283 M-284 M-288 M-289 decideReservation() clones each source once, with one replica", () => {
  const workers = [machineSet("b", { replicas: 4 }), machineSet("a")];
  const gpu = machineSet("g", { pool: "gpu-1" });
  const all = [...workers, gpu];
  const both = ["a-upgrade", "b-upgrade"];
  assert.deepEqual(created(reserve(facts(workers))), both);
  assert.deepEqual(created(reserve(facts(all))), both, "without patterns workers only");
  assert.deepEqual(created(reserve(facts(all), "gpu-*")), [...both, "g-upgrade"]);
  assert.deepEqual(created(reserve(facts([gpu]), "gpu-*")), ["g-upgrade"]);
  assert.deepEqual(created(reserve(facts(all), "none*")), both, "no match");
  assert.deepEqual(created(reserve(facts(workers), "w*")), both, "a pattern that matches workers");
  const half = reserve(facts([...workers, machineSet("a-upgrade", TWIN)]));
  assert.deepEqual(created(half), ["b-upgrade"], "after a failure it goes on where it was");
});

Deno.test("M-296 decideReservation() leaves out temporary MachineSets as sources", () => {
  const labelled = machineSet("a-upgrade", { temporary: true, pool: "worker" });
  assert.deepEqual(created(reserve(facts([machineSet("a"), labelled]))), []);
});

const SOURCE = machineSet("a");

function cloned(
  twin: Parameters<typeof machineSet>[1],
  machines?: readonly KubeObject[],
  readyNodes?: readonly string[],
): CapacityFacts {
  return facts([SOURCE, machineSet("a-upgrade", { ...TWIN, ...twin })], machines, readyNodes);
}

const READINESS: readonly (readonly [name: string, wants: string, facts: CapacityFacts])[] = [
  ["M-276 replicas differ from ready ones", "waiting", cloned({ unready: 1 }, [RUNNING], ["n-1"])],
  ["M-277 node not ready, older than the time allowed", "timedOut", cloned({ ageMinutes: 31 }, [RUNNING])],
  ["M-278 node not ready, young", "waiting", cloned({ ageMinutes: 29 }, [RUNNING])],
  ["M-279 all ready", "ready", cloned({ ageMinutes: 90 }, [RUNNING], ["n-1"])],
  ["M-280 no machine in time", "timedOut", cloned({ ageMinutes: 31, replicas: 0 })],
  ["the clone is being deleted", "waiting", cloned({ leaving: true }, [RUNNING], ["n-1"])],
];

for (const [name, wants, facts] of READINESS) {
  Deno.test(`${name}: decideReservation() waits, gives up or is done`, () =>
    assert.equal(kindOf(reserve(facts)), wants));
}

Deno.test("M-274 M-295 cloneForCapacity() copies the template and names the clone in every label and selector", () => {
  const source = machineSet("a", { replicas: 5 });
  const clone = cloneForCapacity(source);
  const labels = { "upgrade.managed.openshift.io": "true" };
  const own = { "machine.openshift.io/cluster-api-machineset": "a-upgrade", ...labels };
  assert.deepEqual(clone, {
    apiVersion: "machine.openshift.io/v1beta1",
    kind: "MachineSet",
    metadata: { name: "a-upgrade", namespace: "openshift-machine-api", labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: own },
      template: { metadata: { labels: own }, spec: { providerSpec: { value: { instanceType: "m6g.large" } } } },
    },
  });
  const bare = cloneForCapacity({ metadata: { name: "bare" } });
  assert.deepEqual(Object(bare["spec"]).selector, {
    matchLabels: { ...own, "machine.openshift.io/cluster-api-machineset": "bare-upgrade" },
  });
});

Deno.test("M-291 M-292 M-293 decideRemoval() deletes every clone, waits for machines, and names the nodes whose drains may need help", () => {
  const clones = [machineSet("a-upgrade", TWIN), machineSet("b-upgrade", TWIN)];
  const sets = [{ name: "a-upgrade", uid: "uid-a-upgrade" }, { name: "b-upgrade", uid: "uid-b-upgrade" }];
  assert.deepEqual(decideRemoval(facts([machineSet("a"), ...clones], [RUNNING])), { kind: "delete", sets });
  const rest = [RUNNING, machine("m-2", { set: "b-upgrade", phase: "Provisioning" })];
  const waits = { kind: "wait", nodes: ["n-1"], message: "still there: m-1, m-2" };
  assert.deepEqual(decideRemoval(facts([machineSet("a")], rest)), waits);
  assert.equal(decideRemoval(facts([machineSet("a-upgrade", { ...TWIN, leaving: true })])).kind, "wait");
  assert.deepEqual(decideRemoval(facts([machineSet("a")])), { kind: "done" });
});

Deno.test("N-014 smokeStateOf() follows the machine of the other architecture to its ready node", () => {
  const template = machineSet("arm", { pool: "arm" });
  const clone = cloneForSmoke(template);
  assert.equal(clone.metadata.name, "arm-smoke");
  assert.deepEqual(clone.metadata.labels, { "archway.dev/upgrade-smoke": "true" });
  const set = machineSet("arm-smoke", { pool: "", ageMinutes: 3, smoke: true });
  const own = machine("m-9", { set: "arm-smoke", node: "arm-1" });
  const state = (sets: readonly KubeObject[], machines: readonly KubeObject[], nodes: readonly string[]): unknown =>
    smokeStateOf({
      machineSets: sets.map(parseMachineSetView),
      machines: machines.map(parseMachine),
      nodes: nodes.map((name) => node(name, { labels: { "kubernetes.io/arch": "arm64" } })),
    });
  assert.deepEqual(state([template], [], []), { kind: "absent" });
  const waiting = { kind: "waiting", sinceMs: NOW_MS - minutes(3) };
  assert.deepEqual(state([set], [], []), { ...waiting, message: "arm-smoke has no machine yet" });
  assert.deepEqual(state([set], [own], []), { ...waiting, message: "m-9 has no node yet" });
  assert.deepEqual(state([set], [own], ["arm-1"]), { kind: "ready", node: "arm-1", architecture: "arm64" });
});
