import assert from "node:assert/strict";
import fc from "fast-check";
import { collectBody, FREE_BYTES, type TakeMemory } from "../../../../lib/oci/http/body.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { FairLimiter } from "../../../../lib/oci/limits/fair_limiter.ts";

const MEMORY = { limit: 64 * 1024 * 1024, maxShare: 1 / 2 };

function takeFor(memory: FairLimiter, held: DisposableStack): TakeMemory {
  const callers = callersOf({ namespace: "team", priority: "gated" });
  return (bytes) => {
    const permit = memory.tryAcquireAny(callers, { weight: bytes });
    if (permit === undefined) throw new Error("no memory");
    held.use(permit);
  };
}

/** Each piece is overwritten by the next: who keeps a view of one, and with it the whole buffer, has the wrong bytes. */
function* inOneBuffer(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  const buffer = new Uint8Array(4 * FREE_BYTES);
  for (const piece of pieces) {
    buffer.set(piece);
    yield buffer.subarray(0, piece.byteLength);
  }
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(inOneBuffer(pieces));
}

Deno.test("collectBody() gives the bytes of all pieces, copied as they come, in a buffer of their size", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 12 });
  await fc.assert(fc.asyncProperty(pieces, async (parts) => {
    const whole = new Uint8Array(parts.flatMap((part) => [...part]));
    const memory = new FairLimiter(MEMORY);
    using held = new DisposableStack();
    const found = await collectBody(streamOf(parts), { maxBytes: 200_000, take: takeFor(memory, held) });
    assert.deepEqual(found, whole);
    assert.equal(found?.buffer.byteLength, whole.byteLength);
    assert.ok(memory.taken >= whole.byteLength - FREE_BYTES);
  }));
});

Deno.test("collectBody() ends a body at its limit, and cancels what is left of it", async () => {
  for (const [size, bytes] of [[10, 10], [11, undefined]] as const) {
    let isCancelled = false;
    const left = [new Uint8Array(5), new Uint8Array(size - 5)];
    const stream = new ReadableStream<Uint8Array>({
      pull(controller): void {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel(): void {
        isCancelled = true;
      },
    }, { highWaterMark: 0 });
    assert.equal((await collectBody(stream, { maxBytes: 10 }))?.byteLength, bytes);
    assert.equal(isCancelled, bytes === undefined);
  }
});

Deno.test("collectBody() refuses a large body while others of its namespace hold what it may have of the memory for those, small ones never", async () => {
  const memory = new FairLimiter({ limit: 2 * FREE_BYTES, maxShare: 1 / 2 });
  const maxBytes = 4 * FREE_BYTES;
  const gate = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const slow = ReadableStream.from((async function* (): AsyncGenerator<Uint8Array> {
    yield* [new Uint8Array(FREE_BYTES), new Uint8Array(FREE_BYTES)];
    held.resolve();
    await gate.promise;
  })());
  const heldByFirst = new DisposableStack();
  const first = collectBody(slow, { maxBytes, take: takeFor(memory, heldByFirst) });
  await held.promise;
  assert.equal(memory.taken, FREE_BYTES);
  const huge = [new Uint8Array(4 * FREE_BYTES)];
  const sizeOf = async (pieces: readonly Uint8Array[]): Promise<number | undefined> => {
    using held = new DisposableStack();
    return (await collectBody(streamOf(pieces), { maxBytes, take: takeFor(memory, held) }))?.byteLength;
  };
  await assert.rejects(sizeOf(huge), /no memory/);
  assert.equal(await sizeOf([new Uint8Array(FREE_BYTES)]), FREE_BYTES);
  gate.resolve();
  assert.equal((await first)?.byteLength, 2 * FREE_BYTES);
  heldByFirst.dispose();
  assert.equal(memory.taken, 0);
  assert.equal(await sizeOf(huge), maxBytes);
});
