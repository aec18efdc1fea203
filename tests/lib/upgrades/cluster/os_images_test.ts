import assert from "node:assert/strict";
import { Resource } from "../../../../lib/k8s/types.ts";
import type { OsImageState } from "../../../../lib/upgrades/decide/types/cluster.ts";
import { CONFIGS_A_RECONCILE, OsImages } from "../../../../lib/upgrades/cluster/os_images.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";

const signal = new AbortController().signal;

const openBed = (configs: Readonly<Record<string, string>>, before: (call: MemoryCall) => void = () => {}) => {
  const cluster = new MemoryCluster();
  for (const [name, osImageURL] of Object.entries(configs)) {
    cluster.put(Resource.machineConfigs, { metadata: { name }, spec: { osImageURL } });
  }
  const read: string[] = [];
  const api = cluster.client((call) => {
    before(call);
    read.push(call.name ?? "");
  });
  return { cluster, read, images: new OsImages(api) };
};

async function compare(
  { images }: ReturnType<typeof openBed>,
  pools: readonly string[],
): Promise<Readonly<Record<string, OsImageState>>> {
  const compared = pools.map((pool) => ({ pool, config: `rendered-${pool}-2`, before: `rendered-${pool}-1` }));
  return Object.fromEntries(await images.compare(compared, signal));
}

Deno.test("images that are not known are read for the next look, each once", async () => {
  const bed = openBed({
    ...{ "rendered-a-1": "os-1", "rendered-a-2": "os-2" },
    ...{ "rendered-b-1": "os-1", "rendered-b-2": "os-1" },
  });
  assert.deepEqual(await compare(bed, ["a", "b"]), { a: "unread", b: "unread" });
  assert.deepEqual(await compare(bed, ["a", "b"]), { a: "changed", b: "asBefore" });
  assert.deepEqual(bed.read.toSorted(), ["rendered-a-1", "rendered-a-2", "rendered-b-1", "rendered-b-2"]);
});

Deno.test("an image that a user's MachineConfig names is not held against the one from before", async () => {
  const bed = openBed({ "rendered-a-1": "os-1", "rendered-a-2": "os-1" });
  const annotations = { "machineconfiguration.openshift.io/os-image-url-overridden": "true" };
  bed.cluster.put(Resource.machineConfigs, {
    metadata: { name: "rendered-a-2", annotations },
    spec: { osImageURL: "os-1" },
  });
  await compare(bed, ["a"]);
  assert.deepEqual(await compare(bed, ["a"]), { a: "overridden" });
});

Deno.test("no look reads more than a few images, however many pools there are", async () => {
  const pools = Array.from({ length: 50 }, (_, at) => `pool-${at}`);
  const configs = pools.flatMap((pool) => [[`rendered-${pool}-1`, "os-1"], [`rendered-${pool}-2`, "os-2"]]);
  const bed = openBed(Object.fromEntries(configs));
  let looks = 0;
  while (Object.values(await compare(bed, pools)).includes("unread")) {
    looks++;
    assert.ok(bed.read.length <= looks * CONFIGS_A_RECONCILE, `${bed.read.length} after ${looks} looks`);
  }
  assert.deepEqual([looks, bed.read.length, new Set(bed.read).size], [100 / CONFIGS_A_RECONCILE, 100, 100]);
  await compare(bed, pools);
  assert.equal(bed.read.length, 100);
});

Deno.test("a MachineConfig from before that was deleted since leaves nothing to compare with", async () => {
  const bed = openBed({ "rendered-a-2": "os-2" });
  await compare(bed, ["a"]);
  assert.deepEqual(await compare(bed, ["a"]), { a: "changed" });
});

Deno.test("a pool whose own MachineConfig is gone, or cannot be read, is no answer", async () => {
  const gone = openBed({ "rendered-a-1": "os-1" });
  await compare(gone, ["a"]);
  await assert.rejects(compare(gone, ["a"]), /image of pool "a": MachineConfig "rendered-a-2" names none/);
  const refusing = openBed({}, () => {
    throw new Error("away");
  });
  await assert.rejects(compare(refusing, ["a"]), /away/);
});
