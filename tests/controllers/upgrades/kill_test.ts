// A leader that dies with any of its writes: the next one goes on where it was, and nothing is done twice or left over.
import assert from "node:assert/strict";
import { drive } from "../../../controllers/upgrades/drive.ts";
import type { Outside } from "../../../controllers/upgrades/deps.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { textAt } from "../../../lib/json.ts";
import { readInput } from "../../../lib/upgrading/cluster/plan_input.ts";
import { reconcile } from "../../../lib/upgrades/reconcile.ts";
import type { Silence } from "../../../lib/upgrades/types/cluster.ts";
import { machine, machineSet } from "../../lib/upgrades/make.ts";
import { NAMESPACE, openUpgradeScene, pool, type UpgradeScene } from "./make.ts";

const signal = new AbortController().signal;
const MACHINES = "openshift-machine-api";

/** Carries one write out, loses its answer, and refuses all later ones. */
function dying(api: KubeApi): KubeApi {
  let isDead = false;
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (!isDead) await send();
    isDead = true;
    throw new ApiError("Cannot write: killed.", { status: 0 });
  };
  return {
    ...api,
    create: (...call) => write(() => api.create(...call)),
    patch: (...call) => write(() => api.patch(...call)),
    delete: (...call) => write(() => api.delete(...call)),
  };
}

/** What the operators of the cluster do between two leaders. */
function settle({ cluster }: UpgradeScene): void {
  const version = cluster.find("clusterversions", "version");
  if (textAt(Object(version?.["spec"]).desiredUpdate, "version") === "4.20.5") {
    const history = [{ version: "4.20.5", image: "b", state: "Completed", completionTime: "2026-11-21T12:30:00Z" }];
    cluster.put(Resource.clusterVersions, {
      ...version,
      metadata: { name: "version" },
      status: { desired: { version: "4.20.5", image: "b" }, history },
    });
  }
  const clone = cluster.find("machinesets", `${MACHINES}/a-upgrade`);
  const own = cluster.find("machines", `${MACHINES}/m-1`);
  if (clone !== undefined) {
    cluster.put(Resource.machines, machine("m-1", { set: "a-upgrade", node: "n-1" }));
    cluster.put(Resource.nodes, {
      metadata: { name: "n-1" },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
    cluster.put(Resource.machineSets, { ...clone, status: { replicas: 1, readyReplicas: 1 } });
  } else if (own !== undefined) cluster.drop(Resource.machines, `${MACHINES}/m-1`);
}

function rememberingOutside(before: Outside): Outside & { readonly told: string[]; readonly silences: Silence[] } {
  const told: string[] = [];
  const silences: Silence[] = [];
  return {
    ...{ told, silences },
    readers: (scope) => ({ ...before.readers(scope), silences: () => Promise.resolve([...silences]) }),
    createSilence: ({ comment }) => {
      silences.push({ id: comment, createdBy: "managed-upgrade-operator", comment, state: "active" });
      return Promise.resolve();
    },
    endSilence: (id) => {
      silences.splice(silences.findIndex((silence) => silence.id === id), 1);
      return Promise.resolve();
    },
    // As the sinks do: by its id a notification is known.
    tell: ({ id }) => Promise.resolve(void (told.includes(id) ? undefined : told.push(id))),
  };
}

Deno.test("N-015 a leader that is killed at every one of its writes is followed by another, and nothing is done twice", async () => {
  const scene = openUpgradeScene({ spec: { capacityReservation: true } });
  scene.cluster.put(Resource.machineSets, machineSet("a"));
  scene.cluster.put(Resource.machineConfigPools, pool("worker"));
  const outside = rememberingOutside(scene.deps.outside);
  const phaseOf = (): string =>
    textAt(
      Object(scene.cluster.find("upgradeconfigs", `${NAMESPACE}/managed-upgrade-config`)?.["status"]).history?.[0],
      "phase",
    );
  let leaders = 0;
  for (; phaseOf() !== "Upgraded"; leaders++) {
    assert.ok(leaders < 100, `${leaders} leaders, and it is still ${phaseOf()}`);
    const deps = { ...scene.deps, api: dying(scene.deps.api), outside };
    const nowMs = scene.clock.nowMs();
    const input = await readInput({ readApi: deps.readApi, namespace: NAMESPACE }, { nowMs, signal });
    await drive(reconcile(input), deps, { plan: input.known, base: input.base, nowMs, signal }).catch(() => {});
    settle(scene);
  }
  assert.ok(leaders > 10, `${leaders} leaders were needed`);
  const writes = scene.calls.filter(({ verb }) => verb === "create" || verb === "delete" || verb === "patch");
  const of = (verb: string, plural: string): number =>
    writes.filter((call) => call.verb === verb && call.plural === plural).length;
  assert.deepEqual([of("patch", "clusterversions"), of("create", "machinesets"), of("delete", "machinesets")], [
    1,
    1,
    1,
  ]);
  assert.equal(scene.cluster.find("machinesets", `${MACHINES}/a-upgrade`), undefined);
  assert.deepEqual(outside.silences, []);
  assert.deepEqual(outside.told.map((id) => id.split("/").at(-1)), [
    "StateStarted",
    "StateControlPlaneStartedSL",
    "StateControlPlaneFinishedSL",
    "StateWorkerPlaneFinishedSL",
    "StateCompleted",
  ]);
});
