import assert from "node:assert/strict";
import { podOfEvent } from "../../../../lib/exec_format/decide/suspect.ts";

const ROWS: readonly (readonly [what: string, involvedObject: unknown, pod: string | undefined])[] = [
  ["a pod", { namespace: "shop", name: "web-1.a" }, "shop/web-1.a"],
  ["the longest name", { namespace: "shop", name: "a".repeat(253) }, `shop/${"a".repeat(253)}`],
  ["a longer name", { namespace: "shop", name: "a".repeat(254) }, undefined],
  ["a name of 1.4 MB", { namespace: "shop", name: "a".repeat(1_400_000) }, undefined],
  ["a namespace of 1.4 MB", { namespace: "a".repeat(1_400_000), name: "web-1" }, undefined],
  ["no name", { namespace: "shop" }, undefined],
  ["no namespace", { name: "web-1" }, undefined],
  ["a name with a slash", { namespace: "shop", name: "web/1" }, undefined],
  ["a name that no object can have", { namespace: "shop", name: "Web_1" }, undefined],
  ["a name that is no text", { namespace: "shop", name: 7 }, undefined],
  ["nothing", undefined, undefined],
];

for (const [what, involvedObject, pod] of ROWS) {
  Deno.test(`podOfEvent() reads ${what} as ${pod === undefined ? "no pod" : "that pod"}`, () => {
    assert.equal(podOfEvent({ metadata: { name: "e" }, involvedObject }), pod);
  });
}
