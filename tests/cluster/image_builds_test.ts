import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { BuildBed } from "./support/build_bed.ts";
import { BUILD_NAMESPACE } from "./support/build_objects.ts";
import { read } from "./support/cluster_access.ts";
import { missingForOpenShift } from "./support/openshift_crds.ts";

const ignore = lacks("go") || await missingForOpenShift() !== undefined;
const TWO = [{ name: "amd64-1", arch: "amd64" }, { name: "arm64-1", arch: "arm64" }];
const FILE = [{ containerfileArch: "NoArch", content: "FROM configs AS final\nRUN true\n" }];

Deno.test({
  name: "image builds: a pool of two architectures gets one index, each half built on its own nodes (P-040 P-161)",
  ignore,
  fn: async () => {
    await using bed = await BuildBed.open({ nodes: TWO });
    await bed.startArchway();
    await bed.createConfig({ containerFile: FILE });
    const reference = await bed.waitForPublished();
    assert.deepEqual(bed.player.built(), ["amd64", "arm64"]);
    for (const { arch, node } of bed.player.played) assert.equal(node, `${arch}-1`);
    const built = Object.fromEntries(bed.player.played.map(({ arch, digest }) => [arch, digest]));
    assert.deepEqual(await bed.platformsOf(reference), built);
    await bed.settled();
    assert.equal(await bed.jobsCreated(), 2);
    const [build] = await bed.builds();
    assert.equal(build?.archStatus, "amd64=Succeeded,arm64=Succeeded");
    assert.equal(read(await bed.config(), "status", "machineOSBuild", "name"), build?.name);
    const jobs = await bed.cluster.request("GET", `/apis/batch/v1/namespaces/${BUILD_NAMESPACE}/jobs`);
    assert.deepEqual(read(jobs.body, "items"), [], "Jobs are removed after success");
  },
});
