// Readings of a step that are put together from several sources.
import assert from "node:assert/strict";
import { readAll } from "../../../controllers/upgrades/readings.ts";
import type { ReadScope } from "../../../controllers/upgrades/deps.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openClusterReader } from "../../../lib/upgrading/cluster/cluster_reader.ts";
import { OsImages } from "../../../lib/upgrading/cluster/os_images.ts";
import { openUpgradeScene } from "./make.ts";

Deno.test("the advisories of a migration are about settings of images and about workloads, and of no weight where they fail", async () => {
  const { deps, cluster, clock } = openUpgradeScene();
  const { signal } = new AbortController();
  const reader = openClusterReader(deps.api, signal);
  const osImages = new OsImages(deps.api);
  const scope: ReadScope = { base: undefined, reader, osImages, nowMs: clock.nowMs(), signal };
  const type = { ...Resource.clusterVersions, plural: "images", kind: "Image" };
  cluster.put(type, { metadata: { name: "cluster" }, spec: { imageStreamImportMode: "Legacy" } });
  const adviseOnWorkloads = (): Promise<readonly string[]> => Promise.resolve(["1 workload runs on amd64 only."]);
  const { advisories } = await readAll(["advisories"], { ...deps, adviseOnWorkloads }, scope);
  assert.deepEqual(advisories, {
    kind: "observed",
    value: [
      "imageStreamImportMode is Legacy: image streams keep one architecture of each image after the migration",
      "1 workload runs on amd64 only.",
    ],
  });
  const failing = { ...deps, adviseOnWorkloads: () => Promise.reject(new Error("no registry")) };
  assert.deepEqual((await readAll(["advisories"], failing, scope)).advisories, { kind: "unknown", why: "no registry" });
});
