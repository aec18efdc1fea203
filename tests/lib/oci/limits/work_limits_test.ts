import assert from "node:assert/strict";
import { type Callers, callersOf, SharedCallers } from "../../../../lib/oci/callers.ts";
import { RegistryError } from "../../../../lib/oci/errors.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";
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

Deno.test("RegistryReader starts a shared inspection in the share of any namespace that waits for it", async () => {
  const limits = new WorkLimits();
  using inspector = openTestInspector({ limits, plan: planAt() });
  const flood = Array.from({ length: 64 }, () => limits.inspections.tryAcquire("evil"));
  const callers = new SharedCallers();
  callers.follow(gated("evil"));
  const shared = inspector.registry.read(makeRequest("registry.example/app:v1", { callers }), NEVER);
  const asked = inspector.registry.head(makeRequest("registry.example/app:v1", { namespace: "evil" }), NEVER);
  assert.equal(await isSettled(shared), false);
  callers.follow(gated("good"));
  assert.equal((await shared).inspection.kind, "failed", "no endpoint is planned");
  assert.equal(await isSettled(asked), false);
  for (const permit of flood) permit?.release();
  await asked;
});

function documentOf(namespace: string): Parameters<WorkLimits["parseInTurn"]>[1] {
  return { bytes: 256 * 1024, callers: gated(namespace), signal: NEVER };
}

Deno.test("WorkLimits.parseInTurn() parses 64 large documents that end together in as many rounds of the event loop", async () => {
  const limits = new WorkLimits();
  await countingRounds(async (rounds) => {
    const parsedIn = await Promise.all(
      Array.from({ length: 64 }, () => limits.parseInTurn(rounds, documentOf("evil"))),
    );
    assert.equal(new Set(parsedIn).size, 64);
    const small = { ...documentOf("good"), bytes: 16 * 1024 };
    assert.equal(
      new Set(await Promise.all(Array.from({ length: 64 }, () => limits.parseInTurn(rounds, small)))).size,
      1,
    );
  });
});

Deno.test("WorkLimits.parseInTurn() gives namespaces turns, passes on what the work throws, and ends with the signal", async () => {
  const limits = new WorkLimits();
  const order: string[] = [];
  const leaving = new AbortController();
  const run = (name: string, signal: AbortSignal = NEVER): Promise<unknown> =>
    limits.parseInTurn(() => order.push(name), { ...documentOf(name.slice(0, 1)), signal });
  const failing = limits.parseInTurn(() => assert.fail("bad document"), documentOf("a"));
  const all = [run("a1"), run("a2"), run("a3"), run("b1")];
  const left = assert.rejects(run("c1", leaving.signal), /left/);
  leaving.abort(new Error("left"));
  await Promise.all([assert.rejects(failing, /bad document/), left, ...all]);
  assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
});

Deno.test("WorkLimits.takeMemory() refuses a document where those of its namespace are half of what there is", () => {
  const limits = new WorkLimits();
  const bytes = 4 * 1024 * 1024;
  const take = (...namespaces: readonly string[]): Disposable => {
    const members = namespaces.map((namespace) => ({ namespace, priority: "gated" }) as const);
    return limits.takeMemory(bytes, { callers: { members, onJoin: () => () => {} }, registry: "registry.example" });
  };
  using held = new DisposableStack();
  assert.throws(() => {
    for (let at = 0; at < 12; at++) held.use(take("evil"));
  }, (error) => {
    assert.match(String(error), /^RegistryError: Cannot read an answer of "registry\.example" now/);
    assert.ok(error instanceof RegistryError);
    return error.failure.kind === "transient" && error.failure.reason === "Busy";
  });
  take("good")[Symbol.dispose]();
  take("evil", "good")[Symbol.dispose]();
  held.dispose();
  take("evil")[Symbol.dispose]();
});
