// What some sinks have of a notification stands in the status of the plan, beside the history, for whoever goes on.
import assert from "node:assert/strict";
import { openUpgradeScene } from "./make.ts";
import { entryOf, lookOnce, planOf } from "./play.ts";

Deno.test("a notification that one sink refuses: the next leader reads which sinks have it, and the history is not lost", async () => {
  const scene = openUpgradeScene();
  const known: (readonly string[])[] = [];
  const notify = (isRefused: boolean): typeof scene.deps.outside.notify => async ({ id, state }, { record }) => {
    if (state !== "StateStarted") return;
    known.push(record.sinksOf(id));
    if (!isRefused) return;
    await record.write(id, ["event"]);
    await record.write(id, ["event", "service log"]);
    throw new Error("the webhook is away");
  };
  const look = async (isRefused: boolean): Promise<string> => {
    const end = await lookOnce(scene, { outside: { ...scene.deps.outside, notify: notify(isRefused) } });
    return end.kind === "failed" ? end.message : end.kind;
  };
  await look(true);
  assert.equal(await look(true), "the webhook is away");
  const deliveries: unknown = Object(planOf(scene)?.["status"]).deliveries;
  assert.deepEqual(deliveries, [
    { id: "plan/4.20.5/StateStarted", sinks: ["event", "service log"] },
  ]);
  assert.match(JSON.stringify(entryOf(scene)), /the webhook is away/);
  await look(false);
  assert.deepEqual(known.at(-1), ["event", "service log"]);
  const sent: unknown = entryOf(scene)["notifications"];
  assert.match(JSON.stringify(sent), /StateStarted/);
});
