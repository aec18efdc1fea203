import assert from "node:assert/strict";
import fc from "fast-check";
import { collectBody, FREE_BYTES, type TakeMemory } from "../../../../lib/oci/http/body.ts";
import { callersOf } from "../../../../lib/oci/limits/callers.ts";
import { FairLimiter } from "../../../../lib/oci/limits/fair_limiter.ts";
import { LARGE_DOCUMENTS } from "../../../../lib/oci/limits/inspection_limit.ts";

function takeFor(memory: FairLimiter, namespace = "team"): TakeMemory {
  const callers = callersOf({ namespace, priority: "gated" });
  return (bytes) => memory.tryAcquireAny(callers, { weight: bytes });
}

/** Each piece is overwritten by the next: who keeps a view of one, and with it the whole buffer, has the wrong bytes. */
function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...pieces];
  const buffer = new Uint8Array(4 * FREE_BYTES);
  return new ReadableStream({
    pull(controller): void {
      const piece = left.shift();
      if (piece === undefined) return controller.close();
      buffer.set(piece);
      controller.enqueue(buffer.subarray(0, piece.byteLength));
    },
  }, { highWaterMark: 0 });
}

Deno.test("collectBody() gives the bytes of all pieces, copied as they come, in a buffer of their size", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 12 });
  await fc.assert(fc.asyncProperty(pieces, async (parts) => {
    const whole = new Uint8Array(parts.flatMap((part) => [...part]));
    const memory = new FairLimiter(LARGE_DOCUMENTS);
    const found = await collectBody(streamOf(parts), { maxBytes: 200_000, take: takeFor(memory) });
    assert.ok(found.kind === "body");
    assert.deepEqual(found.bytes, whole);
    assert.equal(found.bytes.buffer.byteLength, whole.byteLength);
    assert.equal(memory.taken, 0);
  }));
});

Deno.test("collectBody() ends a body at its limit, and cancels what is left of it", async () => {
  for (const [size, kind] of [[10, "body"], [11, "too-large"]] as const) {
    const found = await collectBody(streamOf([new Uint8Array(5), new Uint8Array(size - 5)]), {
      maxBytes: 10,
      take: takeFor(new FairLimiter(LARGE_DOCUMENTS)),
    });
    assert.equal(found.kind, kind);
  }
});

Deno.test("collectBody() refuses a large body while others of its namespace hold what it may have of the memory for those, small ones never", async () => {
  const memory = new FairLimiter({ limit: 2 * FREE_BYTES, share: 1 });
  const take = takeFor(memory);
  const large = [new Uint8Array(FREE_BYTES), new Uint8Array(FREE_BYTES)];
  const maxBytes = 4 * FREE_BYTES;
  const gate = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const slow = new ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      const next = large.shift();
      if (next !== undefined) return controller.enqueue(next);
      held.resolve();
      await gate.promise;
      controller.close();
    },
  }, { highWaterMark: 0 });
  const first = collectBody(slow, { maxBytes, take });
  await held.promise;
  assert.equal(memory.taken, FREE_BYTES);
  const huge = [new Uint8Array(4 * FREE_BYTES)];
  assert.equal((await collectBody(streamOf(huge), { maxBytes, take })).kind, "no-memory");
  assert.equal((await collectBody(streamOf([new Uint8Array(FREE_BYTES)]), { maxBytes, take })).kind, "body");
  gate.resolve();
  assert.equal((await first).kind, "body");
  assert.equal(memory.taken, 0);
  assert.equal((await collectBody(streamOf(huge), { maxBytes, take })).kind, "body");
});
