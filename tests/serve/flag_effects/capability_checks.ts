// Flags of optional capabilities, shown by what each switches on.
import assert from "node:assert/strict";
import { buildFailedImage } from "../../../lib/exec_format/decide/failed_image.ts";
import type { Config } from "../../../lib/config/parse.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { execFormatSettings, openImagesToPlace } from "../../../serve/exec_format.ts";
import { failPod, openRepairScene, strayPod } from "../../controllers/exec_format/make.ts";
import { openScene } from "../../controllers/make.ts";
import { NAMESPACE, openBench, SETTINGS } from "../../controllers/operator/make.ts";
import { makeFailedImage } from "../../lib/exec_format/decide/make.ts";
import { Simulator } from "../../lib/builds/decide/simulator.ts";
import { servedOnly } from "./served.ts";
import { type Checks, fileConfig, serveConfig } from "./support.ts";
import { WorkLimits } from "../../../lib/oci/limits/work_limits.ts";

/** What becomes of a pod that fails on its node, by these flags. */
async function counted(...flags: readonly string[]): Promise<readonly string[]> {
  const repaired = openRepairScene({ settings: execFormatSettings(serveConfig(...flags)) });
  repaired.scene.setMonitored(false);
  await repaired.scene.run(() => failPod(repaired, strayPod("web-1")));
  return repaired.scene.counted;
}

/** The architectures by which an image is placed that was seen to fail on arm64, by these flags. */
async function placedOn(...flags: readonly string[]): Promise<readonly string[]> {
  const { cluster, clock } = openScene();
  const failed = makeFailedImage({ image: "app" });
  const { digest } = failed;
  cluster.put(Resource.enoexecEvents, buildFailedImage(failed, "archway-system") ?? assert.fail("no record"));
  const platforms = ["amd64", "arm64"].map((architecture) => ({ os: "linux", architecture }));
  const inspection = { kind: "platforms", digest, mediaType: "", platforms, depth: "index", findings: [] } as const;
  const claimedImages = {
    inspect: () => Promise.resolve([{ image: "app", inspection }]),
    permits: new WorkLimits().images,
    prefetch: () => {},
    recall: () => undefined,
  };
  const deps = { config: serveConfig(...flags), clock, log: silentLogger };
  const { images, failedImages } = await openImagesToPlace(deps, { api: cluster.api, claimedImages });
  const stop = new AbortController();
  const running = failedImages?.run(stop.signal);
  await clock.advance(0);
  const identity = { namespace: "shop", serviceAccount: "", pullSecrets: [] };
  const [one] = await images.inspect({ identity, images: [], priority: "gated" }, stop.signal);
  stop.abort();
  await running;
  return one?.inspection.kind === "platforms" ? one.inspection.platforms.map(({ architecture }) => architecture) : [];
}

async function daemonSets({ execFormatImage }: Config): Promise<number> {
  await using bench = await openBench({ settings: { ...SETTINGS, execFormatImage } });
  await bench.createConfig({ plugins: { execFormatErrorMonitor: { enabled: true } } });
  bench.start();
  await bench.until("a condition of the monitor", async () => (await bench.conditions()).length > 0);
  const list = async (): Promise<number> =>
    (await bench.api.list(Resource.daemonSets, { namespace: NAMESPACE }, bench.signal)).items.length;
  if (execFormatImage !== undefined) await bench.until("a DaemonSet", async () => await list() > 0);
  return await list();
}

export const CAPABILITY_FLAGS: Checks = {
  "only": async () => {
    assert.equal(serveConfig().only, "placement");
    const { leases, metrics, webhooks } = await servedOnly("--only=upgrades");
    assert.deepEqual(leases, ["managed-upgrade-operator-lock"]);
    assert.equal(webhooks, 0, "placement does not run");
    assert.match(metrics, /^archway_capability_leader\{capability="upgrades"\} 1$/m);
    assert.doesNotMatch(metrics, /^mto_/m);
  },
  "exec-format-errors": async () => {
    const [report, avoid, repair] = ["report", "avoid", "repair"].map((value) => `--exec-format-errors=${value}`);
    assert.ok(report !== undefined && avoid !== undefined && repair !== undefined);
    assert.deepEqual([await counted(), await counted(report), await counted(avoid)], [[], ["status"], ["status"]]);
    assert.deepEqual(await counted(repair), ["status", "evicted"]);
    for (const flags of [[], [report]]) assert.deepEqual(await placedOn(...flags), ["amd64", "arm64"], flags.join());
    for (const flag of [avoid, repair]) assert.deepEqual(await placedOn(flag), ["amd64"], flag);
  },
  "exec-format-image": async () => {
    assert.equal(await daemonSets(serveConfig()), 0);
    assert.equal(await daemonSets(serveConfig("--exec-format-image=registry.example/archway:1")), 1);
  },
};

async function webhooks({ kueue }: Config): Promise<number> {
  await using bench = await openBench({ settings: { ...SETTINGS, watchesQueued: kueue } });
  await bench.createConfig({});
  bench.start();
  const list = async (): Promise<readonly unknown[]> => {
    const { items } = await bench.api.list(Resource.mutatingWebhooks, {}, bench.signal);
    return items.flatMap((item) => [item["webhooks"]].flat());
  };
  await bench.until("webhooks", async () => (await list()).length > 0);
  return (await list()).length;
}

export const CAPABILITY_SETTINGS: Checks = {
  kueue: async () => {
    assert.deepEqual([await webhooks(serveConfig()), await webhooks(fileConfig("kueue: true"))], [2, 3]);
  },
  imageBuilds: () => {
    const jobsAtOnce = (config: Config): number => {
      const cluster = new Simulator();
      cluster.settings = { ...cluster.settings, maxParallel: config.imageBuilds.maxParallel };
      cluster.settle({ run: false });
      return cluster.jobs.size;
    };
    assert.deepEqual([jobsAtOnce(serveConfig()), jobsAtOnce(fileConfig("imageBuilds: { maxParallel: 1 }"))], [2, 1]);
  },
};
