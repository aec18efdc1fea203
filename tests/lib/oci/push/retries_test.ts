import assert from "node:assert/strict";
import { registryError } from "../../../../lib/oci/errors.ts";
import { PushError } from "../../../../lib/oci/push/push_error.ts";
import { MAX_ATTEMPTS, withRetries } from "../../../../lib/oci/push/retries.ts";
import { systemClock } from "../../../../lib/clock.ts";

const { signal } = new AbortController();

function busy(retryAfterMs?: number): PushError {
  const message = "Cannot push: 429.";
  return new PushError({ kind: "transient", reason: "RateLimited", message, registry: "a", retryAfterMs });
}

async function failing(error: unknown, failures = Infinity): Promise<{ tries: number; waitsMs: readonly number[] }> {
  const waitsMs: number[] = [];
  const clock = { ...systemClock, sleep: (ms: number) => Promise.resolve(void waitsMs.push(ms)) };
  let tries = 0;
  const work = (): Promise<void> => ++tries > failures ? Promise.resolve() : Promise.reject(error);
  await withRetries(work, { clock, signal }).catch((thrown: unknown) => assert.equal(thrown, error));
  return { tries, waitsMs };
}

Deno.test("withRetries() tries what may pass a few times, with growing pauses (P-117)", async () => {
  for (const error of [busy(), registryError("Unreachable", "x"), registryError("ServerError", "x")]) {
    const { tries, waitsMs } = await failing(error);
    assert.equal(tries, MAX_ATTEMPTS);
    assert.equal(waitsMs.length, MAX_ATTEMPTS - 1);
    assert.ok(waitsMs.every((ms, at) => ms > 0 && ms <= 500 * 2 ** at), waitsMs.join());
  }
  assert.equal((await failing(busy(), 2)).tries, 3);
});

Deno.test("withRetries() tries again while a registry does not see the parts that it has taken", async () => {
  const message = "Cannot push: 400 MANIFEST_BLOB_UNKNOWN.";
  const lacking = new PushError({ kind: "permanent", reason: "PartsMissing", message, registry: "a" });
  assert.deepEqual([(await failing(lacking, 1)).tries, (await failing(lacking)).tries], [2, MAX_ATTEMPTS]);
});

Deno.test("withRetries() waits as long as the registry asks, up to half a minute (P-117)", async () => {
  assert.deepEqual(await failing(busy(7_000), 1), { tries: 2, waitsMs: [7_000] });
  assert.deepEqual(await failing(busy(31_000)), { tries: 1, waitsMs: [] });
});

Deno.test("withRetries() tries nothing twice that does not pass", async () => {
  const denied = new PushError({ kind: "permanent", reason: "PushDenied", message: "no", registry: "a" });
  const read = (["ManifestUnknown", "TlsFailed"] as const).map((reason) => registryError(reason, "x"));
  for (const error of [denied, ...read, new Error("a fault of our own")]) {
    assert.equal((await failing(error)).tries, 1, error.message);
  }
});

Deno.test("withRetries() ends with the signal", async () => {
  const ending = new AbortController();
  const clock = { ...systemClock, sleep: () => Promise.resolve(ending.abort(new Error("stop"))) };
  const work = (): Promise<void> => Promise.reject(busy());
  await assert.rejects(withRetries(work, { clock, signal: ending.signal }), /stop/);
});
