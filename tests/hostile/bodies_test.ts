import assert from "node:assert/strict";
import { HOSTILE_KINDS } from "../bench/hostile.ts";
import { seededRandom } from "../support/random.ts";

/** Whether a text anywhere in the value is no Unicode. */
function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  return typeof value === "object" && value !== null && Object.values(value).some(hasLoneSurrogate);
}

Deno.test('hostile: each body of the kind "lone surrogates" parses to a text that is no Unicode', () => {
  const kind = HOSTILE_KINDS.find(({ name }) => name === "lone surrogates") ?? assert.fail();
  const random = seededRandom(1);
  for (let number = 0; number < 200; number++) {
    const body = kind.make(random);
    assert.ok(typeof body === "string" && hasLoneSurrogate(JSON.parse(body)), `body ${number}`);
  }
});
