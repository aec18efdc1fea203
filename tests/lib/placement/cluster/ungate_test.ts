import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { countGatedPods, ungateAll, type UngateResults } from "../../../../lib/placement/cluster/ungate.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { SCHEDULING_GATE as GATE } from "../../../../lib/names.ts";
import { exchanging } from "../../../support/cluster_api.ts";
import { openCommandBed } from "../../cli/support.ts";

const openBench = async () => {
  const bed = await openCommandBed();
  const { api, signal } = bed;
  return {
    ...bed,
    create: (name: string, gates: readonly string[], labels?: Readonly<Record<string, string>>) =>
      bed.createPod(name, { schedulingGates: gates.map((gate) => ({ name: gate })) }, labels && { labels }),
    gatesOf: async (name: string) => {
      const { spec } = await api.get(Resource.pods, { namespace: "default", name }, signal);
      const gates: unknown = Reflect.get(Object(spec), "schedulingGates") ?? [];
      return Array.isArray(gates) ? gates.map((gate) => Reflect.get(Object(gate), "name")).join(" ") : "";
    },
  };
};

Deno.test("ungateAll() takes off our gate alone, from labelled and unlabelled pods", async () => {
  await using bench = await openBench();
  await bench.create("labelled", ["first", GATE, "last"], { [GATE]: "gated", app: "a" });
  await bench.create("unlabelled", [GATE]);
  await bench.create("foreign", ["other"]);
  assert.equal(await countGatedPods(bench.api, bench.signal), 1, "the label finds one, which is enough to know");
  const { ungated, left } = await ungateAll(bench.api, { signal: bench.signal });
  assert.deepEqual([...ungated].sort(), ["default/labelled", "default/unlabelled"]);
  assert.deepEqual(left, []);
  assert.equal(await bench.gatesOf("labelled"), "first last");
  assert.equal(await bench.gatesOf("unlabelled"), "");
  assert.equal(await bench.gatesOf("foreign"), "other");
  const { metadata } = await bench.api.get(Resource.pods, { namespace: "default", name: "labelled" }, bench.signal);
  assert.deepEqual(metadata.labels, { [GATE]: "removed", app: "a" });
  assert.equal(await countGatedPods(bench.api, bench.signal), 0);
});

Deno.test("ungateAll() takes a vanished pod for freed, and reports which are left and why when the server refuses", async () => {
  await using bench = await openBench();
  await bench.create("held", [GATE], { [GATE]: "gated" });
  const ungate = async (status: number): Promise<UngateResults> => {
    const patch = () => Promise.reject(new ApiError("denied by a policy", { status }));
    return await ungateAll(exchanging(bench.api, { patch }), { signal: bench.signal });
  };
  assert.deepEqual((await ungate(404)).left, []);
  const left = [{ pod: "default/held", reason: "denied by a policy" }];
  assert.deepEqual(await ungate(403), { ungated: [], left });
});
