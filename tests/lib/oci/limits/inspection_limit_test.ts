import assert from "node:assert/strict";
import { limitInspections, MAX_INSPECTIONS } from "../../../../lib/oci/limits/inspection_limit.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { FakeRegistry } from "../../../support/fake_registry.ts";
import { makeRequest } from "../../../support/inspectors.ts";

const NEVER = new AbortController().signal;

Deno.test("limitInspections() leaves room for a namespace while ten others ask registries that never answer", async () => {
  const clock = new FakeClock();
  const registry = new FakeRegistry(clock);
  registry.delayMs = Infinity;
  const limited = limitInspections(registry);
  const leaving = new AbortController();
  const stuck: Promise<unknown>[] = [];
  for (let at = 0; at < 1_000; at++) {
    const request = makeRequest(`evil.example/i${at}:v1`, { namespace: `evil${at % 10}` });
    stuck.push(assert.rejects(limited.inspect(request, leaving.signal)));
  }
  await clock.advance(0);
  assert.ok(registry.reads.length < MAX_INSPECTIONS, `${registry.reads.length} under way`);
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
  const limited = limitInspections(registry);
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
  const shared = limited.inspect(makeRequest("shared.example/app:v1", { namespace: "evil", callers }), NEVER);
  await clock.advance(0);
  const isAsked = (): boolean => registry.reads.some(({ image }) => image.startsWith("shared"));
  assert.equal(isAsked(), false);
  for (const listener of join) listener({ namespace: "good", priority: "gated" });
  await clock.advance(0);
  assert.equal(isAsked(), true);
  await clock.advance(600_000);
  await Promise.all([...flood, shared]);
});
