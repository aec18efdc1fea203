import assert from "node:assert/strict";
import { type Callers, callersOf, SharedCallers } from "../../../../lib/oci/callers.ts";
import { type ArrivedDocument, WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";
import { makeRequest, openTestInspector, planAt } from "../../../support/inspectors.ts";
import { countingRounds, turn } from "../../../support/until.ts";

const NEVER = new AbortController().signal;

function gated(namespace: string): Callers {
  return callersOf({ namespace, priority: "gated" });
}

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => settled = true);
  await turn();
  return settled;
}

Deno.test("WorkLimits.inspections leaves room for a namespace while ten others inspect for ever", async () => {
  const { inspections } = new WorkLimits();
  const leaving = new AbortController();
  const stuck = Array.from({ length: 1_000 }, (_, at) => inspections.acquire(gated(`evil${at % 10}`), leaving.signal));
  const ended = Promise.allSettled(stuck);
  await turn();
  assert.ok(inspections.taken < 128, `${inspections.taken} under way`);
  for (let at = 0; at < 50; at++) (await inspections.acquire(gated("good"), NEVER)).release();
  leaving.abort();
  await ended;
});

Deno.test("RegistryInspector starts a shared inspection in the share of any namespace that waits for it", async () => {
  const limits = new WorkLimits();
  using inspector = openTestInspector({ limits, plan: planAt() });
  const flood = Array.from({ length: 64 }, () => limits.inspections.tryAcquire("evil"));
  const callers = new SharedCallers();
  callers.follow(gated("evil"));
  const shared = inspector.registry.inspect(makeRequest("registry.example/app:v1", { callers }), NEVER);
  const asked = inspector.registry.head(makeRequest("registry.example/app:v1", { namespace: "evil" }), NEVER);
  assert.equal(await isSettled(shared), false);
  callers.follow(gated("good"));
  assert.equal((await shared).inspection.kind, "failed", "no endpoint is planned");
  assert.equal(await isSettled(asked), false);
  for (const permit of flood) permit?.release();
  await asked;
});

function documentOf(namespace: string, more: Partial<ArrivedDocument> = {}): ArrivedDocument {
  const callers = gated(namespace);
  return { bytes: 256 * 1024, callers, signal: NEVER, registry: "registry.example", ...more };
}

Deno.test("WorkLimits.parse() parses 64 large documents that end together in as many rounds of the event loop", async () => {
  const limits = new WorkLimits();
  await countingRounds(async (rounds) => {
    const parsedIn = await Promise.all(Array.from({ length: 64 }, () => limits.parse(rounds, documentOf("evil"))));
    assert.equal(new Set(parsedIn).size, 64);
    const small = documentOf("good", { bytes: 16 * 1024 });
    assert.equal(new Set(await Promise.all(Array.from({ length: 64 }, () => limits.parse(rounds, small)))).size, 1);
  });
});

Deno.test("WorkLimits.parse() leaves the event loop to others for as long as the document before took", async () => {
  const limits = new WorkLimits();
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

Deno.test("WorkLimits.parse() gives namespaces turns, passes on what the work throws, and ends with the signal", async () => {
  const limits = new WorkLimits();
  const order: string[] = [];
  const leaving = new AbortController();
  const run = (name: string, more: Partial<ArrivedDocument> = {}): Promise<unknown> =>
    limits.parse(() => order.push(name), documentOf(name.slice(0, 1), more));
  const failing = limits.parse(() => assert.fail("bad document"), documentOf("a"));
  const all = [run("a1"), run("a2"), run("a3"), run("b1")];
  const left = assert.rejects(run("c1", { signal: leaving.signal }), /left/);
  leaving.abort(new Error("left"));
  await Promise.all([assert.rejects(failing, /bad document/), left, ...all]);
  assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
});

Deno.test("WorkLimits.parse() refuses a document where those of its namespace that wait are half of what may wait", async () => {
  const limits = new WorkLimits();
  const bytes = 4 * 1024 * 1024;
  const run = (namespace: string): Promise<string> => limits.parse(() => namespace, documentOf(namespace, { bytes }));
  const ends = Promise.allSettled(Array.from({ length: 12 }, () => run("evil")));
  assert.equal(await run("good"), "good");
  const [refused, ...others] = (await ends).filter((end) => end.status === "rejected");
  assert.equal(others.length, 3);
  assert.match(String(refused?.reason), /^RegistryError: Cannot read an answer of "registry\.example" now/);
  assert.deepEqual([refused?.reason.failure.kind, refused?.reason.failure.reason], ["transient", "Busy"]);
  assert.equal(await run("evil"), "evil");
});

Deno.test("WorkLimits.parse() reads a document for all who wait for it where the first of them has no memory left", async () => {
  const limits = new WorkLimits();
  const bytes = 4 * 1024 * 1024;
  const members = ["evil", "good"].map((namespace) => ({ namespace, priority: "gated" }) as const);
  const shared: ArrivedDocument = { ...documentOf("evil", { bytes }), callers: { members, onJoin: () => () => {} } };
  const parse = () => limits.parse(() => "evil", documentOf("evil", { bytes }));
  const ends = Promise.allSettled(Array.from({ length: 12 }, parse));
  assert.equal(await limits.parse(() => "shared", shared), "shared");
  assert.ok((await ends).some(({ status }) => status === "rejected"));
});
