import assert from "node:assert/strict";
import { atWork, ignore } from "./support/build_bed.ts";
import { content } from "./support/build_objects.ts";
import { read } from "./support/cluster_access.ts";

Deno.test(
  "image builds: a pool of two architectures gets one index, each half built on its own nodes (P-040 P-161)",
  { ignore },
  atWork(async (bed) => {
    const reference = await bed.publish(content("first"));
    assert.deepEqual(bed.player.built(), ["amd64", "arm64"]);
    for (const { arch, node } of bed.player.played) assert.equal(node, `${arch}-1`);
    const built = Object.fromEntries(bed.player.played.map(({ arch, digest }) => [arch, digest]));
    assert.deepEqual(await bed.platformsOf(reference), built);
    await bed.settled();
    assert.equal(await bed.jobsCreated(), 2);
    const [build] = await bed.builds();
    assert.equal(build?.archStatus, "amd64=Succeeded,arm64=Succeeded");
    assert.equal(read(await bed.config(), "status", "machineOSBuild", "name"), build?.name);
    assert.deepEqual(await bed.jobs(), [], "Jobs are removed after success");
  }),
);
