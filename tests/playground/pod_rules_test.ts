// What the API server refuses of pods.
import assert from "node:assert/strict";
import type { JsonObject } from "../../playground/json_value.ts";
import { checkNewPod, checkPodUpdate } from "../../playground/pod_rules.ts";
import { GATE, inValues, makePod, requiring, term } from "./make.ts";

const GATES = { schedulingGates: [{ name: GATE }] };
const ZONE = inValues("zone", "a");
const ARCH = inValues("kubernetes.io/arch", "amd64");
const FIELDS = { matchFields: [inValues("metadata.name", "n1")] };

const ROWS: readonly (readonly [string, JsonObject, JsonObject, "accepted" | "refused"])[] = [
  ["append an expression to every term", { affinity: requiring(term(ZONE), term(ZONE)) }, {
    affinity: requiring(term(ZONE, ARCH), term(ZONE, ARCH)),
  }, "accepted"],
  ["append to a matchFields-only term", { affinity: requiring(FIELDS) }, {
    affinity: requiring({ ...FIELDS, ...term(ARCH) }),
  }, "accepted"],
  ["add affinity where there was none", {}, { affinity: requiring(term(ARCH)) }, "accepted"],
  ["add preferred terms", {}, {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] } },
  }, "accepted"],
  ["append a toleration", { tolerations: [{ key: "a" }] }, { tolerations: [{ key: "a" }, { key: "b" }] }, "accepted"],
  ["add a nodeSelector key", { nodeSelector: { a: "1" } }, { nodeSelector: { a: "1", b: "2" } }, "accepted"],
  ["several terms, one empty, append only to the other", { affinity: requiring({}, term(ZONE)) }, {
    affinity: requiring({}, term(ZONE, ARCH)),
  }, "accepted"],
  ["insert before an existing expression", { affinity: requiring(term(ZONE)) }, {
    affinity: requiring(term(ARCH, ZONE)),
  }, "refused"],
  ["widen the values of an expression", { affinity: requiring(term(ZONE)) }, {
    affinity: requiring(term(inValues("zone", "a", "b"))),
  }, "refused"],
  ["add a term", { affinity: requiring(term(ZONE)) }, { affinity: requiring(term(ZONE), term(ARCH)) }, "refused"],
  ["remove a term", { affinity: requiring(term(ZONE), term(ARCH)) }, { affinity: requiring(term(ZONE)) }, "refused"],
  ["an expression into an empty term", { affinity: requiring({}) }, { affinity: requiring(term(ARCH)) }, "refused"],
  ["drop the required affinity", { affinity: requiring(term(ZONE)) }, {}, "refused"],
  ["add a scheduling gate", {}, { schedulingGates: [{ name: GATE }, { name: "other" }] }, "refused"],
  ["change a nodeSelector value", { nodeSelector: { a: "1" } }, { nodeSelector: { a: "2" } }, "refused"],
  ["drop a toleration", { tolerations: [{ key: "a" }] }, { tolerations: [] }, "refused"],
  ["change pod affinity", {}, { affinity: { podAffinity: {} } }, "refused"],
  ["change the restart policy", {}, { restartPolicy: "Never" }, "refused"],
  ["change an image", {}, { containers: [{ name: "main", image: "other" }] }, "accepted"],
  ["rename a container", {}, { containers: [{ name: "renamed", image: "registry.example/app:v1" }] }, "refused"],
  [
    "remove the gate and set affinity at once",
    {},
    { schedulingGates: [], affinity: requiring(term(ARCH)) },
    "accepted",
  ],
];

Deno.test("checkPodUpdate() judges updates of gated pods as KEP-3838 says", async (t) => {
  for (const [name, before, after, expected] of ROWS) {
    await t.step(`${name}: ${expected}`, () => {
      const causes = checkPodUpdate(makePod({ ...GATES, ...before }), makePod({ ...GATES, ...after }));
      assert.equal(causes.length === 0 ? "accepted" : "refused", expected, JSON.stringify(causes));
    });
  }
});

Deno.test("checkPodUpdate() refuses affinity, nodeSelector and gates once the gate has gone", () => {
  for (const change of [{ affinity: requiring(term(ARCH)) }, { nodeSelector: { a: "1" } }, GATES]) {
    assert.notEqual(checkPodUpdate(makePod(), makePod(change)).length, 0, JSON.stringify(change));
  }
});

Deno.test("checkNewPod() refuses an empty list of terms, missing containers and a bound gated pod", () => {
  assert.equal(checkNewPod(makePod({ affinity: requiring() }))[0]?.reason, "FieldValueRequired");
  assert.equal(checkNewPod(makePod({ containers: [] }))[0]?.field, "spec.containers");
  assert.equal(checkNewPod(makePod({ ...GATES, nodeName: "n" }))[0]?.field, "spec.nodeName");
  assert.deepEqual(checkNewPod(makePod({ affinity: requiring({}) })), []);
});
