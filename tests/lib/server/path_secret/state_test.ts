import assert from "node:assert/strict";
import fc from "fast-check";
import {
  acceptedSecrets,
  changePathSecret,
  decidePathChange,
  parsePathSecret,
  PATH_TERMS as terms,
  type PathSecret,
  renderPathSecret,
  secretPath,
} from "../../../../lib/server/path_secret/state.ts";

const DAY = 86_400_000;
const FRESH: PathSecret = { current: "a".repeat(64), madeAtMs: 0, next: undefined, previous: undefined };
const NEXT = { secret: "b".repeat(64), usedFromMs: 100 };
const PREVIOUS = { secret: "c".repeat(64), replacedAtMs: 0 };

Deno.test("decidePathChange() names what is due", () => {
  const rows: readonly (readonly [string, PathSecret | undefined, number, boolean])[] = [
    ["make", undefined, 0, false],
    ["none", FRESH, DAY - 1, true],
    ["stage", FRESH, DAY, true],
    ["none", FRESH, DAY, false],
    ["none", { ...FRESH, next: NEXT }, 99, true],
    ["use", { ...FRESH, next: NEXT }, 100, true],
    ["none", { ...FRESH, previous: PREVIOUS }, terms.graceMs - 1, true],
    ["none", { ...FRESH, previous: PREVIOUS }, 2 * DAY, false],
    ["retire", { ...FRESH, previous: PREVIOUS }, terms.graceMs, true],
  ];
  for (const [change, state, nowMs, isCarried] of rows) {
    assert.equal(decidePathChange(state, { terms, nowMs, isCarried }), change, JSON.stringify([change, nowMs]));
  }
});

Deno.test("changePathSecret() never makes paths of a secret that was not accepted for the whole overlap before", () => {
  const steps = fc.array(fc.record({ waitMs: fc.nat({ max: 2 * DAY }), isCarried: fc.boolean() }), { maxLength: 60 });
  fc.assert(fc.property(steps, (plan) => {
    let state = changePathSecret(undefined, { change: "make", terms, nowMs: 0, secret: "0" });
    let nowMs = 0;
    const acceptedSince = new Map([["0", 0]]);
    for (const [index, { waitMs, isCarried }] of plan.entries()) {
      nowMs += waitMs;
      const before = state;
      const change = decidePathChange(state, { terms, nowMs, isCarried });
      if (change === "none") continue;
      state = changePathSecret(state, { change, terms, nowMs, secret: String(index + 1) });
      if (state.current !== before.current) {
        assert.ok(nowMs - (acceptedSince.get(state.current) ?? nowMs) >= terms.overlapMs);
        assert.ok(acceptedSecrets(state).includes(before.current));
      }
      for (const secret of acceptedSecrets(state)) {
        if (!acceptedSince.has(secret)) acceptedSince.set(secret, nowMs);
      }
      assert.ok(acceptedSecrets(state).length <= 2);
    }
  }));
});

Deno.test("secretPath() has an unguessable segment of its own for each route and secret, as an API server takes it", () => {
  const paths = ["x", "y"].flatMap((secret) => ["/convert", "/other"].map((route) => secretPath(secret, route)));
  assert.equal(new Set(paths.map((path) => path.split("/")[1])).size, 4);
  assert.ok(paths.every((path) => /^\/[0-9a-f]{64}\/(convert|other)$/.test(path)));
});

Deno.test("parsePathSecret() reads what renderPathSecret() wrote, and nothing broken", () => {
  const state = { ...FRESH, madeAtMs: 7, next: NEXT, previous: PREVIOUS };
  assert.deepEqual(parsePathSecret(renderPathSecret(state)), state);
  assert.deepEqual(parsePathSecret(renderPathSecret(FRESH)), FRESH);
  for (const texts of [undefined, {}, { current: "short" }]) assert.equal(parsePathSecret(texts), undefined);
  assert.equal(parsePathSecret({ current: FRESH.current })?.madeAtMs, 0);
});
