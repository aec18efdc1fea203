import assert from "node:assert/strict";
import { podProblem, podTarget } from "../../../lib/config/positionals.ts";

Deno.test("podTarget() reads the three ways to name a pod", () => {
  assert.deepEqual(podTarget("pod/web", "team"), { namespace: "team", name: "web" });
  assert.deepEqual(podTarget("po/web", "team"), { namespace: "team", name: "web" });
  assert.deepEqual(podTarget("web", "team"), { namespace: "team", name: "web" });
  assert.deepEqual(podTarget("other/web", "team"), { namespace: "other", name: "web" });
});

const CASES: readonly (readonly [words: readonly string[], namespace: string | undefined, says: RegExp | undefined])[] =
  [
    [["web"], undefined, undefined],
    [["pod/web"], "team", undefined],
    [["Pods/web"], "team", undefined],
    [["team/web"], undefined, undefined],
    [["team/web"], "team", undefined],
    [["team/web"], "other", /"team\/web" with -n other: they name two namespaces/],
    [["svc/web"], undefined, /"svc\/web": only pods are explained/],
    [["deployment/web"], "team", /"deployment\/web": only pods/],
    [["deployments.apps/web"], undefined, /only pods/],
    [[], undefined, /name one pod as pod\/NAME/],
    [["pod/"], undefined, /name one pod/],
    [["/web"], undefined, /name one pod/],
    [["a/b/c"], undefined, /name one pod/],
    [["a", "b"], undefined, /name one pod/],
  ];

for (const [words, namespace, says] of CASES) {
  Deno.test(`podProblem() ${says === undefined ? "takes" : "refuses"} "${words.join(" ")}" with -n ${namespace}`, () => {
    const problem = podProblem(words, namespace);
    if (says === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? "", says);
  });
}
