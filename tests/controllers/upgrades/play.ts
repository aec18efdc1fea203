// Plays an upgrade on an API server in memory: one look after another, and between them what the operators of the cluster do.
import assert from "node:assert/strict";
import type { Outside } from "../../../lib/upgrades/outside/outside.ts";
import { drive } from "../../../controllers/upgrades/drive.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { textAt } from "../../../lib/json.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { readInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import { reconcile } from "../../../lib/upgrades/decide/reconcile.ts";
import type { Silence } from "../../../lib/upgrades/decide/types/cluster.ts";
import type { ReconcileEnd } from "../../../lib/upgrades/decide/types/steps.ts";
import { machine, machineSet } from "../../lib/upgrades/decide/make.ts";
import { NOTIFICATIONS } from "../../lib/upgrades/decide/make_plan.ts";
import { NAMESPACE, NOTHING_BESIDE, openUpgradeScene, pool, type UpgradeScene } from "./make.ts";

const MACHINES = "openshift-machine-api";

export async function lookOnce(
  { clock, deps }: UpgradeScene,
  { api = deps.api, outside = deps.outside }: { readonly api?: KubeApi; readonly outside?: Outside } = {},
): Promise<ReconcileEnd> {
  const [nowMs, { signal }] = [clock.nowMs(), new AbortController()];
  const input = await readInput({ readApi: api, namespace: NAMESPACE }, { nowMs, signal });
  const used = { ...deps, readApi: api, api, outside };
  const { known: plan, facts } = input;
  const options = { ...NOTHING_BESIDE, plan, facts, osImages: new OsImages(api), nowMs, signal };
  return await drive(reconcile({ ...input, isDrainForbidden: false }), used, options);
}

export interface Play extends UpgradeScene {
  readonly outside: RememberingOutside;
}

/** An upgrade with spare capacity that is due. */
export function openPlay(): Play {
  const scene = openUpgradeScene({ spec: { capacityReservation: true } });
  scene.cluster.put(Resource.machineSets, machineSet("a"));
  scene.cluster.put(Resource.machineConfigPools, pool("worker"));
  return Object.assign(scene, { outside: rememberingOutside(scene.deps.outside) });
}

/** What the operators of the cluster do between two looks. */
export function settle(scene: UpgradeScene): void {
  const { cluster } = scene;
  const version = cluster.find("clusterversions", "version");
  if (textAt(Object(version?.["spec"]).desiredUpdate, "version") === "4.20.5") completeVersion(cluster);
  const clone = cloneOf(scene);
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

function completeVersion(cluster: UpgradeScene["cluster"]): void {
  const desired = { version: "4.20.5", image: "b" };
  const history = [{ ...desired, state: "Completed", completionTime: "2026-11-21T12:30:00Z" }];
  cluster.put(Resource.clusterVersions, {
    ...cluster.find("clusterversions", "version"),
    metadata: { name: "version" },
    status: { desired, history },
  });
}

export function planOf({ cluster }: UpgradeScene): KubeObject | undefined {
  return cluster.find("upgradeconfigs", `${NAMESPACE}/managed-upgrade-config`);
}

export function phaseOf(scene: UpgradeScene): string {
  return textAt(entryOf(scene), "phase");
}

function cloneOf({ cluster }: UpgradeScene): KubeObject | undefined {
  return cluster.find("machinesets", `${MACHINES}/a-upgrade`);
}

export function entryOf(scene: UpgradeScene): Readonly<Record<string, unknown>> {
  return Object(Object(planOf(scene)?.["status"]).history?.[0]);
}

interface RememberingOutside extends Outside {
  readonly notified: string[];
  readonly silences: Silence[];
  readonly created: string[];
}

/** As the servers do: a silence holds until it is ended, and a notification is known by its id. */
function rememberingOutside(before: Outside): RememberingOutside {
  const notified: string[] = [];
  const silences: Silence[] = [];
  const created: string[] = [];
  return {
    ...{ notified, silences, created },
    readers: (context) => ({ ...before.readers(context), silences: () => Promise.resolve([...silences]) }),
    createSilence: ({ comment, endsAtMs }) => {
      created.push(comment);
      silences.push({ id: comment, createdBy: "managed-upgrade-operator", comment, state: "active", endsAtMs });
      return Promise.resolve();
    },
    endSilence: (id) => {
      silences.splice(silences.findIndex((silence) => silence.id === id), 1);
      return Promise.resolve();
    },
    notify: ({ id }) => {
      if (!notified.includes(id)) notified.push(id);
      return Promise.resolve();
    },
  };
}

/** Asserts that an upgrade with spare capacity was carried out once: each write and each notification, and nothing is left. */
export function assertDoneOnce(scene: Play): void {
  const done = scene.calls.map(({ verb, plural }) => `${verb} ${plural}`);
  const writes = ["patch clusterversions", "create machinesets", "delete machinesets"];
  assert.deepEqual(writes.map((write) => done.filter((one) => one === write).length), [1, 1, 1]);
  assert.equal(cloneOf(scene), undefined);
  assert.deepEqual(scene.outside.silences, []);
  assert.deepEqual(scene.outside.notified.map((id) => id.split("/").at(-1)), NOTIFICATIONS);
}
