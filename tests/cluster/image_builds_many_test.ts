import assert from "node:assert/strict";
import { atWork, type BuildBed, ignore } from "./support/build_bed.ts";
import { BUILD_NAMESPACE, content } from "./support/build_objects.ts";
import { waitUntil } from "./support/wait.ts";

const ARCHS = ["amd64", "arm64", "ppc64le", "s390x"];
const POOLS = 50;
/** Writes of one build of four architectures at most: build, Jobs and what they need with its owners, records, conditions. */
const MOST_WRITES = 120;
/** A minute on a machine of its own; others may share it. */
const DEADLINE_MS = 600_000;

function poolName(at: number): string {
  return `pool-${String(at).padStart(2, "0")}`;
}

/** Pools whose architectures are said by their configuration: they have no nodes of their own. */
async function createPools(bed: BuildBed): Promise<void> {
  const annotations = { "archway.dev/architectures": ARCHS.join(",") };
  for (let at = 0; at < POOLS; at++) {
    const pool = poolName(at);
    await bed.createPool(pool);
    await bed.createConfig({ pool, annotations, ...content("first"), repository: `team/${pool}` });
  }
}

Deno.test(
  "image builds: fifty pools of four architectures at once: each is built once, and tidied up (O-143 P-183)",
  { ignore },
  atWork({
    nodes: ARCHS.map((arch) => ({ name: `${arch}-1`, arch })),
  }, async (bed) => {
    await createPools(bed);
    const references = new Map<string, string>();
    await waitUntil("all pools to have their image", async () => {
      for (let at = 0; at < POOLS; at++) {
        const pool = poolName(at);
        if (!references.has(pool)) {
          const reference = await bed.published(pool);
          if (reference === "") return false;
          references.set(pool, reference);
        }
      }
      return true;
    }, {
      deadlineMs: DEADLINE_MS,
      intervalMs: 1_000,
      says: async () => `${references.size} have one; log: ${await bed.log()}`,
    });
    await bed.settled({ forMs: 3_000, deadlineMs: DEADLINE_MS });
    assert.equal(await bed.jobsCreated(), POOLS * ARCHS.length, "one Job for each architecture of each pool");
    for (const reference of references.values()) {
      assert.deepEqual(Object.keys(await bed.platformsOf(reference) ?? {}), ARCHS);
    }
    assert.deepEqual(await bed.jobs(), []);
    const maps = await bed.cluster.names(`/api/v1/namespaces/${BUILD_NAMESPACE}/configmaps`);
    const left = maps.filter((name) => !/^(?:archs|digest)-|^archway-architectures$|^kube-root-ca/.test(name));
    assert.deepEqual(left, [], "what Jobs needed is gone");
    const writes = (await bed.writes()).length;
    assert.ok(writes <= POOLS * MOST_WRITES, `${writes} writes`);
    await bed.annotate({ "example.com/touched": "1" }, poolName(0));
    await bed.settled();
    assert.equal((await bed.writes()).length, writes, "a change of nothing that matters writes nothing");
  }),
);
