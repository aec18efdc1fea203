// Reading outcomes back from pods, and their report.
import assert from "node:assert/strict";
import { type KubeObject } from "../../../lib/k8s/types.ts";
import { parseKubeObject } from "../../../lib/playground/cluster.ts";
import type { JsonObject } from "../../../lib/playground/json_value.ts";
import { isSettled, readOutcome } from "../../../lib/playground/outcomes.ts";
import { renderOutcomeDocument, renderOutcomeTable, renderWelcome } from "../../../lib/playground/report.ts";
import { EXPECT_ANNOTATION, type PodDecision } from "../../../lib/playground/samples.ts";
import { GATE, inValues, makeNode, podBody, requiring, term } from "./make.ts";

const NODES = [makeNode("arm64-1", "arm64")];
const PREFIX = "multiarch.openshift.io";

function pod(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  return parseKubeObject(podBody("p", spec, metadata));
}

function labels(gate: string, rest: JsonObject = {}): JsonObject {
  return { labels: { [GATE]: gate, [`${PREFIX}/node-affinity`]: "not-set", ...rest } };
}

const NOWHERE = requiring(term({ key: `${PREFIX}/no-supported-arch`, operator: "Exists" }));
const ROWS: readonly (readonly [PodDecision, KubeObject])[] = [
  ["unseen", pod({})],
  ["waiting", pod({ schedulingGates: [{ name: GATE }] }, labels("gated"))],
  ["ignore", pod({}, labels("not-set"))],
  ["place", pod({}, labels("removed", { [`${PREFIX}/node-affinity`]: "set" }))],
  ["nowhere", pod({ affinity: NOWHERE }, labels("removed", { [`${PREFIX}/node-affinity`]: "set" }))],
  ["fallback", pod({}, labels("removed", { [`${PREFIX}/fallback-arch`]: "amd64" }))],
  ["release", pod({}, labels("removed", { [`${PREFIX}/image-inspect-error`]: "" }))],
];

Deno.test("readOutcome() recognises every final state by its labels and annotations", () => {
  for (const [decision, object] of ROWS) assert.equal(readOutcome(object, NODES).decision, decision);
});

const PLACED = labels("removed", { [`${PREFIX}/node-affinity`]: "set" });
const AFFINITY = requiring(term(inValues("kubernetes.io/arch", "arm64")));

function expecting(expectation: JsonObject): KubeObject {
  const annotations = { [EXPECT_ANNOTATION]: JSON.stringify(expectation) };
  return pod({ affinity: AFFINITY, nodeName: "arm64-1" }, { ...PLACED, annotations });
}

Deno.test("readOutcome() is ok only when decision, architectures and node are as expected", () => {
  const expected = { decision: "place", architectures: ["arm64"], nodes: ["arm64", "amd64"] };
  assert.equal(readOutcome(expecting(expected), NODES).ok, true);
  assert.equal(readOutcome(expecting({ ...expected, decision: "ignore" }), NODES).ok, false);
  assert.equal(readOutcome(expecting({ ...expected, architectures: ["arm64", "amd64"] }), NODES).ok, false);
  assert.equal(readOutcome(expecting({ ...expected, nodes: [] }), NODES).ok, false);
  assert.throws(() => readOutcome(expecting({ nonsense: true }), NODES), /Cannot read annotation/);
});

Deno.test("isSettled() waits for decision and scheduling", () => {
  assert.equal(isSettled(pod({}, PLACED)), false);
  const unschedulable = { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] };
  assert.equal(isSettled({ ...pod({}, PLACED), status: unschedulable }), true);
  assert.equal(isSettled({ ...pod({ nodeName: "n" }, PLACED), status: { podIP: "10.0.0.1" } }), true);
  assert.equal(isSettled({ ...pod({ nodeName: "n" }), status: { podIP: "10.0.0.1" } }), false);
});

Deno.test("renderOutcomeTable() aligns columns, shortens images and says what was expected", () => {
  const good = readOutcome(expecting({ decision: "place", architectures: ["arm64"], nodes: ["arm64"] }), NODES);
  const bad = readOutcome(expecting({ decision: "nowhere", architectures: [], nodes: [] }), NODES);
  const table = renderOutcomeTable([good, bad], { registryHost: "registry.example", color: false });
  assert.equal(
    table,
    [
      "POD   IMAGES   ARCHITECTURES   DECISION   NODE      AS EXPECTED",
      "p     app:v1   arm64           place      arm64-1   yes",
      "p     app:v1   arm64           place      arm64-1   no: nowhere, -, Pending",
      "",
    ].join("\n"),
  );
  assert.ok(renderOutcomeTable([bad], { registryHost: "", color: true }).includes("\x1b[31m"));
  assert.deepEqual(JSON.parse(renderOutcomeDocument([good], "json"))[0].node, "arm64-1");
  assert.match(renderOutcomeDocument([good], "yaml"), /^ {2}node: arm64-1$/m);
});

Deno.test("renderWelcome() names every address and a kubectl command that uses the kubeconfig", () => {
  const addresses = { apiUrl: "https://a", registryHost: "b:1", kubeconfig: "/c", dashboardUrl: "http://d" };
  const text = renderWelcome(addresses);
  for (const address of Object.values(addresses)) assert.ok(text.includes(address));
  assert.ok(text.includes("kubectl --kubeconfig /c get pods -o wide -w"));
});
