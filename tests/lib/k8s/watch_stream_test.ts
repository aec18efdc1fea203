import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { readAhead } from "../../../lib/k8s/read_ahead.ts";
import { decodeWatchStream } from "../../../lib/k8s/watch_stream.ts";
import { turn } from "../../support/until.ts";

function bodyOf(text: string, cuts: readonly number[] = []): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const chunks = [0, ...places].map((from, n) => bytes.slice(from, places[n] ?? bytes.length));
  return ReadableStream.from(chunks);
}

function line(name: string, type = "ADDED", more = {}): string {
  return `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: "7" }, ...more } })}\n`;
}

async function namesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> {
  const names: string[] = [];
  for await (const event of decodeWatchStream(body)) names.push(event.object.metadata.name);
  return names;
}

Deno.test("property: decodeWatchStream() gives the same events however the bytes are cut", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 6 }),
    fc.array(fc.nat(), { maxLength: 20 }),
    async (names, cuts) => {
      assert.deepEqual(await namesOf(bodyOf(names.map((name) => line(name)).join(""), cuts)), names);
    },
  ));
});

Deno.test("decodeWatchStream() ignores half a line at the end, empty lines, and unknown event types", async () => {
  assert.deepEqual(await namesOf(bodyOf(`${line("x", "NEWS")}${line("a")}\n\n${line("b").slice(0, 20)}`)), ["a"]);
});

Deno.test("decodeWatchStream() throws ApiError for lines that are no events or longer than the limit", async () => {
  const wrong = ["{nonsense", "[]", '{"type":"ADDED"}', '{"type":"ADDED","object":{}}'].map((text) => `${text}\n`);
  for (const text of [...wrong, "x".repeat(16 * 1024 * 1024 + 1)]) {
    await assert.rejects(namesOf(bodyOf(text)), ApiError, text.slice(0, 30));
  }
});

Deno.test("readAhead() gives what had arrived before a cut, then throws the cut", async () => {
  const body = ReadableStream.from((function* (): Generator<Uint8Array<ArrayBuffer>> {
    for (const at of [1, 2, 3]) yield new Uint8Array([at]);
    throw new Error("cut");
  })());
  const got: number[] = [];
  await assert.rejects(async () => {
    for await (const chunk of readAhead(body)) got.push(...chunk);
  }, { message: "cut" });
  assert.deepEqual(got, [1, 2, 3]);
});

Deno.test("readAhead() reads ahead of a slow consumer, up to its limit, and cancels the body when left", async () => {
  let read = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller): void {
      read++;
      controller.enqueue(new Uint8Array(10));
    },
    cancel(): void {
      isCancelled = true;
    },
  }, { highWaterMark: 0 });
  for await (const _chunk of readAhead(body, { maxBytes: 100 })) {
    await turn();
    assert.ok(read >= 10 && read <= 12, `${read} chunks were read`);
    break;
  }
  assert.equal(isCancelled, true);
});

Deno.test("decodeWatchStream() lets others have their turn in a long burst", async () => {
  const padding = "x".repeat(7_000);
  const chunks = Array.from({ length: 3_000 }, (_, n) => new TextEncoder().encode(line(`p${n}`, "ADDED", { padding })));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  assert.equal((await namesOf(ReadableStream.from(chunks))).length, 3_000);
  clearInterval(timer);
  assert.ok(turns > 0, "a timer fired while the burst was decoded");
});

Deno.test("readAhead() ends with the signal's reason even when the body never settles its read", async () => {
  const stop = new AbortController();
  const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: () => new Promise<void>(() => {}),
    cancel: () => new Promise<void>(() => {}),
  });
  const reading = Array.fromAsync(readAhead(silent, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  await assert.rejects(reading, /enough/);
});
