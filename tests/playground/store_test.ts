import assert from "node:assert/strict";
import { Resource } from "../../lib/k8s/types.ts";
import { ObjectStore } from "../../playground/store.ts";
import { makePod } from "./make.ts";

Deno.test("ObjectStore notifies every listener in the same order even when a listener writes", () => {
  const store = new ObjectStore();
  const seen: string[] = [];
  store.subscribe((change) => {
    if (change.version === 1) store.put(Resource.nodes, { metadata: { name: "n" } });
  });
  store.subscribe((change) => seen.push(`${change.version} ${change.type.plural}`));
  store.put(Resource.pods, makePod());
  assert.deepEqual(seen, ["1 pods", "2 nodes"]);
});

Deno.test("ObjectStore drops the oldest changes beyond its limit", () => {
  const store = new ObjectStore({ historyLimit: 8 });
  for (let write = 0; write < 20; write++) store.put(Resource.pods, makePod());
  assert.equal(store.changesSince(Resource.pods, 0), undefined);
  assert.equal(store.changesSince(Resource.pods, 15)?.length, 5);
});
