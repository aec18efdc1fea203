import assert from "node:assert/strict";
import { openBuildWatches } from "../../../../lib/builds/cluster/watches.ts";
import { type Logger, silentLogger } from "../../../../lib/log.ts";
import { runFor } from "../../../controllers/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";

Deno.test("on a cluster without OpenShift's kinds one warning says so and what to do, and the watches are in sync", async () => {
  const clock = new FakeClock();
  const cluster = new MemoryCluster();
  const plurals = ["machineosconfigs", "machineosbuilds", "machineconfigpools", "controllerconfigs"];
  for (const plural of [...plurals, "machinesets", "clusterversions"]) cluster.missing.add(plural);
  const warnings: string[] = [];
  const log: Logger = { ...silentLogger, warn: (message) => void warnings.push(message), with: () => log };
  const watches = openBuildWatches({ api: cluster.api, clock, log, namespace: "mco", onChange: () => {} });
  await runFor({ clock }, watches, 120_000);
  assert.equal(watches.hasSynced(), true);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /no MachineOSConfigs.* leave out manifests\/components\/image-builds/);
});
