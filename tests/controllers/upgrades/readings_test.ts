import assert from "node:assert/strict";
import { readAll } from "../../../controllers/upgrades/readings.ts";
import type { ReadContext } from "../../../controllers/upgrades/deps.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openClusterReader } from "../../../lib/upgrades/cluster/cluster_reader.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { NOTHING_BESIDE, openUpgradeScene } from "./make.ts";

Deno.test("the advisories of a migration are about settings of images and about workloads, once those were looked at", async () => {
  const { deps, cluster, clock, calls } = openUpgradeScene();
  const { signal } = new AbortController();
  const reader = openClusterReader(deps.api, signal);
  const osImages = new OsImages(deps.api);
  const context: ReadContext = { ...NOTHING_BESIDE, facts: undefined, reader, osImages, nowMs: clock.nowMs(), signal };
  const type = { ...Resource.clusterVersions, plural: "images", kind: "Image" };
  cluster.put(type, { metadata: { name: "cluster" }, spec: { imageStreamImportMode: "Legacy" } });
  const read = async (found: readonly string[] | undefined): Promise<unknown> =>
    (await readAll(["advisories"], deps, { ...context, workloads: () => found })).advisories;
  assert.deepEqual(await read(undefined), { kind: "observed", value: { kind: "looking" } });
  assert.equal(calls.length, 0);
  const found = ["1 workload runs on amd64 only."];
  const mode = "imageStreamImportMode is Legacy: image streams keep one architecture of each image after the migration";
  assert.deepEqual(await read(found), { kind: "observed", value: { kind: "found", sentences: [mode, ...found] } });
});
