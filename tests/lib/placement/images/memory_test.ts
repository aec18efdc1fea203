// What hostile images may take of memory: each an index of as many and as long platforms as are read, or any number of them
// at registries that never answer.
import assert from "node:assert/strict";
import { MAX_CACHE_BYTES } from "../../../../lib/oci/cache_limits.ts";
import { RecordStore } from "../../../../lib/oci/cache/record_store.ts";
import { PUBLIC_READERSHIP } from "../../../../lib/oci/cache/readership.ts";
import type { Platform } from "../../../../lib/oci/inspection.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { runAlone } from "../../../support/run_alone.ts";

const HOSTILE = new URL("./hostile_images.ts", import.meta.url);
const HOSTILE_PODS = new URL("./hostile_pods.ts", import.meta.url);
const HOSTILE_SECRETS = new URL("./hostile_secrets.ts", import.meta.url);
const COMMON = { kind: "platforms", mediaType: "m", depth: "index", findings: [] } as const;

Deno.test("RecordStore holds as much as its weight allows, whatever images say", () => {
  const clock = new FakeClock();
  const store = new RecordStore({ kv: undefined, clock, maxEntries: 10_000 });
  const platforms = Array.from({ length: 1_000 }, (_, at): Platform => ({
    os: `o${at}`.padEnd(64, "s"),
    architecture: `a${at}`.padEnd(64, "c"),
    variant: "v".repeat(64),
  }));
  for (let at = 0; at < 1_000; at++) {
    const digest = `sha256:${at.toString(16).padStart(64, "0")}`;
    store.putRecord(PUBLIC_READERSHIP, { ...COMMON, digest, platforms });
  }
  const leastBytes = 1_000 * 3 * 64;
  assert.ok(store.size() > 10 && store.size() * leastBytes <= MAX_CACHE_BYTES, `${store.size()} documents`);
});

Deno.test("a process with little heap lives through 400 hostile images of 1 000 long platforms each", async () => {
  const { heapMb = NaN } = await runAlone(HOSTILE, ["400"]);
  assert.ok(heapMb < 90, `${heapMb} MB of heap`);
});

Deno.test("a process with little heap lives through 1 000 pull secrets, each as large as is read", async () => {
  const { heapMb = NaN, read } = await runAlone(HOSTILE_SECRETS, ["1000"]);
  assert.equal(read, 1_000);
  assert.ok(heapMb < 30, `${heapMb} MB of heap`);
});

Deno.test("a process with little heap lives through 1 200 pods of 200 images each at registries that never answer", async () => {
  const { heapMb = NaN, asked = 0 } = await runAlone(HOSTILE_PODS, ["1200"]);
  assert.ok(asked > 2_000 && asked < 4_200, `${asked} images were under way`);
  assert.ok(heapMb < 100, `${heapMb} MB of heap`);
});
