import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { type ArrivedDocument, ImageLimits } from "../../../../lib/oci/limits/image_limits.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { FakeRegistry } from "../../../support/fake_registry.ts";
import { makeRequest } from "../../../support/inspectors.ts";

const NEVER = new AbortController().signal;

Deno.test("limitInspections() leaves room for a namespace while ten others ask registries that never answer", async () => {
  const clock = new FakeClock();
  const registry = new FakeRegistry(clock);
  registry.delayMs = Infinity;
  const limited = new ImageLimits().limitInspections(registry);
  const leaving = new AbortController();
  const stuck: Promise<unknown>[] = [];
  for (let at = 0; at < 1_000; at++) {
    const request = makeRequest(`evil.example/i${at}:v1`, { namespace: `evil${at % 10}` });
    stuck.push(assert.rejects(limited.inspect(request, leaving.signal)));
  }
  await clock.advance(0);
  assert.ok(registry.reads.length < 128, `${registry.reads.length} under way`);
  registry.delayMs = 0;
  const good = Array.from(
    { length: 50 },
    (_, at) => limited.inspect(makeRequest(`good.example/i${at}:v1`, { namespace: "good" }), NEVER),
  );
  assert.equal((await Promise.all(good)).length, 50);
  leaving.abort();
  await Promise.all(stuck);
});

Deno.test("limitInspections() starts a shared inspection in the share of any namespace that waits for it", async () => {
  const clock = new FakeClock();
  const registry = new FakeRegistry(clock);
  registry.delayMs = 60_000;
  const limited = new ImageLimits().limitInspections(registry);
  const join: ((caller: { readonly namespace: string; readonly priority: "gated" }) => void)[] = [];
  const flood = Array.from(
    { length: 200 },
    (_, at) => limited.inspect(makeRequest(`evil.example/i${at}:v1`, { namespace: "evil" }), NEVER),
  );
  const callers = {
    members: [{ namespace: "evil", priority: "gated" }] as const,
    onJoin: (listener: typeof join[number]) => {
      join.push(listener);
      return () => {};
    },
  };
  const shared = limited.inspect(makeRequest("shared.example/app:v1", { callers }), NEVER);
  await clock.advance(0);
  const isAsked = (): boolean => registry.reads.some(({ image }) => image.startsWith("shared"));
  assert.equal(isAsked(), false);
  for (const listener of join) listener({ namespace: "good", priority: "gated" });
  await clock.advance(0);
  assert.equal(isAsked(), true);
  await clock.advance(600_000);
  await Promise.all([...flood, shared]);
});

function documentOf(namespace: string, more: Partial<ArrivedDocument> = {}): ArrivedDocument {
  const callers = callersOf({ namespace, priority: "gated" });
  return { bytes: 256 * 1024, callers, signal: NEVER, registry: "registry.example", ...more };
}

/** Runs with a count of the rounds that the event loop has made. */
async function countingRounds(work: (rounds: () => number) => Promise<void>): Promise<void> {
  let rounds = 0;
  let isOver = false;
  const turning = (async () => {
    for (; !isOver; rounds++) await new Promise<void>((resolve) => setImmediate(resolve));
  })();
  try {
    await work(() => rounds);
  } finally {
    isOver = true;
    await turning;
  }
}

Deno.test("ImageLimits.parse() parses 64 large documents that end together in as many rounds of the event loop", async () => {
  const limits = new ImageLimits();
  await countingRounds(async (rounds) => {
    const parsedIn = await Promise.all(Array.from({ length: 64 }, () => limits.parse(rounds, documentOf("evil"))));
    assert.equal(new Set(parsedIn).size, 64);
    const small = await Promise.all(
      Array.from({ length: 64 }, () => limits.parse(rounds, documentOf("good", { bytes: 16 * 1024 }))),
    );
    assert.equal(new Set(small).size, 1);
  });
});

Deno.test("ImageLimits.parse() leaves the event loop to others for as long as the document before took", async () => {
  const limits = new ImageLimits();
  const timed = (ms: number) => (): readonly [number, number] => {
    const startedMs = performance.now();
    while (performance.now() < startedMs + ms);
    return [startedMs, performance.now()];
  };
  const [first, second] = await Promise.all([
    limits.parse(timed(40), documentOf("a")),
    limits.parse(timed(0), documentOf("a")),
  ]);
  assert.ok(second[0] - first[1] >= 39, `${second[0] - first[1]} ms between the two`);
});

Deno.test("ImageLimits.parse() gives namespaces turns, passes on what the work throws, and ends with the signal", async () => {
  const limits = new ImageLimits();
  const order: string[] = [];
  const leaving = new AbortController();
  const run = (name: string, more: Partial<ArrivedDocument> = {}): Promise<unknown> =>
    limits.parse(() => order.push(name), documentOf(name.slice(0, 1), more));
  const failing = limits.parse(() => {
    throw new Error("bad document");
  }, documentOf("a"));
  const all = [run("a1"), run("a2"), run("a3"), run("b1")];
  const left = assert.rejects(run("c1", { signal: leaving.signal }), /left/);
  leaving.abort(new Error("left"));
  await Promise.all([assert.rejects(failing, /bad document/), left, ...all]);
  assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
});

Deno.test("ImageLimits.parse() refuses a document where those of its namespace that wait are half of what may wait", async () => {
  const limits = new ImageLimits();
  const bytes = 4 * 1024 * 1024;
  const run = (namespace: string): Promise<string> => limits.parse(() => namespace, documentOf(namespace, { bytes }));
  const ends = Promise.allSettled(Array.from({ length: 12 }, () => run("evil")));
  assert.equal(await run("good"), "good");
  const [refused, ...others] = (await ends).filter((end) => end.status === "rejected");
  assert.equal(others.length, 3);
  assert.match(String(refused?.reason), /^InspectionError: Cannot read an answer of "registry\.example" now/);
  assert.equal(await run("evil"), "evil");
});

Deno.test("ImageLimits.parse() reads a document for all who wait for it where the first of them has no memory left", async () => {
  const limits = new ImageLimits();
  const bytes = 4 * 1024 * 1024;
  const members = ["evil", "good"].map((namespace) => ({ namespace, priority: "gated" }) as const);
  const shared: ArrivedDocument = { ...documentOf("evil", { bytes }), callers: { members, onJoin: () => () => {} } };
  const ends = Promise.allSettled(
    Array.from({ length: 12 }, () => limits.parse(() => "evil", documentOf("evil", { bytes }))),
  );
  assert.equal(await limits.parse(() => "shared", shared), "shared");
  assert.ok((await ends).some(({ status }) => status === "rejected"));
});
