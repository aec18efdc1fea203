import assert from "node:assert/strict";
import { BUILDER_HOLD_PATH } from "../../lib/builds/decide/names.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { openLoadLimit, OTHER_LOAD } from "../../lib/server/load_limit.ts";
import { holdBuilder } from "../../routes/hold_builder.ts";

const app = holdBuilder(openLoadLimit(OTHER_LOAD, { clock: systemClock, log: silentLogger }));

function ask(body: unknown): Promise<Response> {
  return Promise.resolve(app.request(BUILDER_HOLD_PATH, { method: "POST", body: JSON.stringify(body) }));
}

Deno.test("holdBuilder() allows whatever is written, with 0 replicas", async () => {
  const { response } = Object(await (await ask({ request: { uid: "one" } })).json());
  assert.deepEqual([response.uid, response.allowed, response.patchType], ["one", true, "JSONPatch"]);
  assert.deepEqual(JSON.parse(atob(response.patch)), [{ op: "add", path: "/spec/replicas", value: 0 }]);
});

Deno.test("holdBuilder() answers what is no review with an error", async () => {
  assert.equal((await ask({ request: {} })).status, 400);
});
