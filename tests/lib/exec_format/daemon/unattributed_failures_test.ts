import assert from "node:assert/strict";
import { UnattributedFailures } from "../../../../lib/exec_format/daemon/daemon.ts";

Deno.test("UnattributedFailures gives a failure back when its pod is known, and when it has waited too long", () => {
  const waiting = new UnattributedFailures<string>();
  waiting.add("known soon", 0);
  waiting.add("never known", 0);
  const find = (item: string): string | undefined => item === "known soon" ? "pod" : undefined;
  assert.deepEqual(waiting.take(() => undefined, { nowMs: 1, canExpire: true }), []);
  assert.deepEqual(waiting.take(find, { nowMs: 119_999, canExpire: true }), [{ item: "known soon", pod: "pod" }]);
  assert.deepEqual(waiting.take(find, { nowMs: 120_000, canExpire: true }), [{ item: "never known", pod: undefined }]);
  assert.equal(waiting.size, 0);
});

Deno.test("UnattributedFailures lets nothing expire while the pods are not known", () => {
  const waiting = new UnattributedFailures<string>();
  waiting.add("a", 0);
  assert.deepEqual(waiting.take(() => undefined, { nowMs: 3_600_000, canExpire: false }), []);
  assert.equal(waiting.size, 1);
});

Deno.test("UnattributedFailures gives up the oldest when too many wait", () => {
  const waiting = new UnattributedFailures<number>();
  const out = Array.from({ length: 258 }, (_, at) => waiting.add(at, 0)).filter((item) => item !== undefined);
  assert.deepEqual([out, waiting.size], [[0, 1], 256]);
});
