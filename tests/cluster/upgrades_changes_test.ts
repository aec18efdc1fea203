import assert from "node:assert/strict";
import { type KubeApi, withCalls } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { CLUSTER_VERSION, imageOf, POOLS, renderedOf } from "./support/simulated_openshift.ts";
import { PLAN } from "./support/upgrade_plane.ts";
import { NOTIFICATIONS } from "../lib/upgrades/decide/make_plan.ts";
import { openHastyClock, openUpgradeBed, statesOf, type UpgradeBed } from "./support/upgrade_bed.ts";
import { waitUntil } from "./support/wait.ts";

/** One upgrade of its own on a bed that others have used. */
class Scene {
  readonly asked: unknown[] = [];
  beforeAsking: () => Promise<void> = () => Promise.resolve();
  readonly bed: UpgradeBed;
  readonly version: string;
  notified = NOTIFICATIONS;
  readonly #notifiedBefore: number;
  #end: () => Promise<void> = () => Promise.resolve();

  constructor(bed: UpgradeBed, patch: number) {
    this.bed = bed;
    this.version = `4.20.${patch}`;
    this.#notifiedBefore = bed.outside.notified.length;
  }

  async begin(): Promise<void> {
    await this.bed.openshift.offer(this.version);
    this.#end = this.bed.start((api) => this.#watching(api));
    const desired = { version: this.version, channel: "stable-4.20" };
    await this.bed.createPlan({ capacityReservation: true, desired });
  }

  async untilAsked(): Promise<void> {
    await waitUntil("the step UpgradeCommenced to be done", async () => {
      return listAt(await this.bed.readPlan(), "status", "history", 0, "conditions").some((one) =>
        read(one, "type") === "UpgradeCommenced" && read(one, "status") === "True"
      );
    });
  }

  async finish(): Promise<void> {
    const { openshift, outside, controlPlane } = this.bed;
    await waitUntil("the cluster to have arrived", () => this.#hasArrived());
    await waitUntil("temporary workers to be gone", async () => (await openshift.machineSets()).length === 1);
    await waitUntil("silences to be gone", () => outside.silences.length === 0);
    assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
    assert.deepEqual(await openshift.cordoned(), []);
    await this.#end();
    await controlPlane.request("DELETE", PLAN);
    assert.deepEqual(statesOf(outside.notified.slice(this.#notifiedBefore)), this.notified, "every notification once");
  }

  async #hasArrived(): Promise<boolean> {
    const { controlPlane } = this.bed;
    const [{ body: clusterVersion }, { body: pool }] = await Promise.all([
      controlPlane.request("GET", CLUSTER_VERSION),
      controlPlane.request("GET", `${POOLS}/worker`),
    ]);
    const version = String(read(clusterVersion, "spec", "desiredUpdate", "version"));
    return read(pool, "status", "configuration", "name") === renderedOf("worker", imageOf(version));
  }

  #watching(api: KubeApi): KubeApi {
    return withCalls(api, {
      patch: async (type, target, options) => {
        if (type.plural === Resource.clusterVersions.plural) await this.beforeAsking();
        const written = await api.patch(type, target, options);
        if (type.plural === Resource.clusterVersions.plural) this.asked.push(read(written, "spec", "desiredUpdate"));
        return written;
      },
    });
  }
}

type Play = (scene: Scene) => Promise<void>;

/** In their order on one cluster, each from the version that the one before has led to. */
const PLAYS: readonly (readonly [string, Play])[] = [
  ["a ClusterVersion that another writes at the same moment is read again, and asked once", async (scene) => {
    let conflicts = 0;
    scene.beforeAsking = async () => {
      if (conflicts++ === 0) {
        await scene.bed.controlPlane.patch(CLUSTER_VERSION, { metadata: { labels: { touched: "yes" } } });
      }
    };
    await scene.begin();
    await scene.bed.untilPhase("Upgraded");
    assert.equal(conflicts, 2, "the first one met a conflict");
    assert.equal(scene.asked.length, 1);
  }],
  ["a plan that is deleted behind the request: what was prepared goes, and the cluster goes on", async (scene) => {
    // Those of an upgrade whose request is made.
    scene.notified = NOTIFICATIONS.slice(0, 2);
    scene.bed.openshift.hold();
    await scene.begin();
    await scene.untilAsked();
    assert.ok((await scene.bed.openshift.machineSets()).includes("workers-a-upgrade"));
    assert.equal(scene.bed.outside.silences.length, 1);
    await scene.bed.controlPlane.request("DELETE", PLAN);
    await waitUntil("silences to be gone", () => scene.bed.outside.silences.length === 0);
    scene.bed.openshift.letGo();
    await waitUntil("the release", () => scene.bed.openshift.asked.at(-1)?.startsWith(scene.version));
    assert.equal(scene.asked.length, 1);
  }],
  ["N-030 a clock that is set back in the middle neither repeats nor ends anything", async (scene) => {
    scene.bed.openshift.hold();
    await scene.begin();
    await scene.untilAsked();
    scene.bed.clock.shift(-6 * 60 * 60_000);
    scene.bed.openshift.letGo();
    await scene.bed.untilPhase("Upgraded");
    assert.equal(scene.asked.length, 1);
    scene.bed.clock.shift(6 * 60 * 60_000);
  }],
];

Deno.test("upgrades: others change what an upgrade works on", async (t) => {
  await using bed = await openUpgradeBed({ clock: openHastyClock(60) });
  let patch = 11;
  for (const [name, play] of PLAYS) {
    await t.step(name, async () => {
      const scene = new Scene(bed, patch);
      patch += 10;
      await play(scene);
      await scene.finish();
    });
  }
});
