import { renderDocument } from "../../lib/cli/output.ts";
import assert from "node:assert/strict";
import { type KubeObject } from "../../lib/k8s/types.ts";
import { requireKubeObject } from "../../playground/cluster.ts";
import type { JsonObject } from "../../playground/json_path.ts";
import { isSettled, observedOf, readOutcome, reportedMessage } from "../../playground/outcomes.ts";
import { renderOutcomeTable, renderWelcome } from "../../playground/outcome_text.ts";
import { type PodDecision, samplesOf, type Scenario } from "../../playground/samples.ts";
import { EXPECT_ANNOTATION, sampleNames } from "../../playground/sample_cluster.ts";
import { GATE, inValues, makeNode, podBody, requiring, term } from "./make.ts";

const NODES = [makeNode("arm64-1", "arm64")];
const PREFIX = "multiarch.openshift.io";

function pod(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  return requireKubeObject(podBody("p", spec, metadata));
}

function labels(gate: string, rest: JsonObject = {}): { readonly labels: JsonObject } {
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

const ON_ARM64 = { decision: "place", architectures: ["arm64"], nodes: ["arm64"] };
const NOWHERE_AT_ALL = { decision: "nowhere", architectures: [], nodes: [] };

function expecting(expectation: JsonObject, labels = PLACED.labels): KubeObject {
  const annotations = { [EXPECT_ANNOTATION]: JSON.stringify(expectation) };
  return pod({ affinity: AFFINITY, nodeName: "arm64-1" }, { labels, annotations });
}

Deno.test("readOutcome() is ok only when decision, architectures and node are as expected", () => {
  const expected = { ...ON_ARM64, nodes: ["arm64", "amd64"] };
  assert.equal(readOutcome(expecting(expected), NODES).ok, true);
  assert.equal(readOutcome(expecting({ ...expected, decision: "ignore" }), NODES).ok, false);
  assert.equal(readOutcome(expecting({ ...expected, architectures: ["arm64", "amd64"] }), NODES).ok, false);
  assert.equal(readOutcome(expecting({ ...expected, nodes: [] }), NODES).ok, false);
  assert.throws(() => readOutcome(expecting({ nonsense: true }), NODES), /Cannot read annotation/);
});

const REPORTED = { report: "says so" };
const PLAIN = { registryHost: "registry.example", color: false };

function misplaced(reported: boolean, isLabelled: boolean): KubeObject {
  const labels = { ...PLACED.labels, ...isLabelled && { [`${PREFIX}/exec-format-error`]: "true" } };
  return { ...expecting({ ...ON_ARM64, reported }, labels), status: { podIP: "10.0.0.1" } };
}

Deno.test("readOutcome() and isSettled() want label and event of a report that is expected, and neither of another", () => {
  const rows = [
    { reported: true, labelled: true, said: REPORTED, ok: true, settled: true },
    { reported: true, labelled: true, said: {}, ok: false, settled: false },
    { reported: true, labelled: false, said: REPORTED, ok: false, settled: false },
    { reported: false, labelled: false, said: {}, ok: true, settled: true },
    { reported: false, labelled: false, said: REPORTED, ok: false, settled: true },
    { reported: false, labelled: true, said: {}, ok: false, settled: true },
  ];
  for (const { reported, labelled, said, ok, settled } of rows) {
    const object = misplaced(reported, labelled);
    const seen = [readOutcome(object, NODES, said).ok, isSettled(object, said)];
    assert.deepEqual(seen, [ok, settled], JSON.stringify({ reported, labelled, said }));
  }
});

Deno.test("Q-07 readOutcome() and isSettled() want the condition that is expected", () => {
  const condition = "NodesWithoutArchitecture";
  const object = { ...expecting({ ...ON_ARM64, condition }), status: { podIP: "10.0.0.1" } };
  for (const status of ["True", "False"]) {
    const config = { metadata: { name: "cluster" }, status: { conditions: [{ type: condition, status }] } };
    const said = observedOf(object, { events: [], configs: [config] });
    const seen = [readOutcome(object, NODES, said).ok, isSettled(object, said)];
    assert.deepEqual(seen, [status === "True", status === "True"]);
  }
});

Deno.test("reportedMessage() finds the event about this very pod", () => {
  const object = pod({}, { uid: "p-1" });
  const event = (reason: string, uid: string): KubeObject =>
    requireKubeObject({ metadata: { name: "e" }, reason, involvedObject: { uid }, message: `${reason} of ${uid}` });
  const others = [event("BackOff", "p-1"), event("ExecFormatError", "p-2")];
  assert.equal(reportedMessage(object, others), undefined);
  assert.equal(reportedMessage(object, [...others, event("ExecFormatError", "p-1")]), "ExecFormatError of p-1");
});

Deno.test("renderOutcomeTable() has a column for reports where some are expected, and their words below", () => {
  const outcomes = [readOutcome(misplaced(true, true), NODES, REPORTED), readOutcome(misplaced(true, false), NODES)];
  assert.deepEqual(renderOutcomeTable(outcomes, PLAIN).split("\n"), [
    "POD   ARCHITECTURES   DECISION   NODE      REPORTED   OK    IMAGES",
    "p     arm64           place      arm64-1   yes        yes   app:v1",
    "p     arm64           place      arm64-1   no         no    app:v1",
    "",
    "p: expected place, arm64, arm64, reported",
    "",
    "p: says so",
    "",
  ]);
});

Deno.test("isSettled() waits for decision and scheduling", () => {
  assert.equal(isSettled(pod({}, PLACED)), false);
  const unschedulable = { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] };
  assert.equal(isSettled({ ...pod({}, PLACED), status: unschedulable }), true);
  assert.equal(isSettled({ ...pod({ nodeName: "n" }, PLACED), status: { podIP: "10.0.0.1" } }), true);
  assert.equal(isSettled({ ...pod({ nodeName: "n" }), status: { podIP: "10.0.0.1" } }), false);
});

Deno.test("renderOutcomeTable() aligns columns, shortens images and reports what was expected", () => {
  const [good, bad] = [readOutcome(expecting(ON_ARM64), NODES), readOutcome(expecting(NOWHERE_AT_ALL), NODES)];
  assert.deepEqual(renderOutcomeTable([good, bad], PLAIN).split("\n"), [
    "POD   ARCHITECTURES   DECISION   NODE      OK    IMAGES",
    "p     arm64           place      arm64-1   yes   app:v1",
    "p     arm64           place      arm64-1   no    app:v1",
    "",
    "p: expected nowhere, -, Pending",
    "",
  ]);
  assert.ok(renderOutcomeTable([bad], { registryHost: "", color: true }).includes("\x1b[31m"));
  assert.deepEqual(JSON.parse(renderDocument([good], "json"))[0].node, "arm64-1");
  assert.match(renderDocument([good], "yaml"), /^ {2}node: arm64-1$/m);
});

const WELCOME = {
  ...{ apiUrl: "https://a", registryHost: "b:1", kubeconfig: "/c", dashboardUrl: "http://d/" },
  ...{ authority: "/e", settings: "/f", archway: "deno run -A main.ts" },
};

Deno.test("renderWelcome() names every address and commands that use the kubeconfig and the registry", () => {
  const text = renderWelcome({ ...WELCOME, sample: "arm64-only", scenario: "placement" });
  for (const address of ["https://a", "b:1", "/c", "http://d/"]) assert.ok(text.includes(address));
  for (const command of ["explain demo/arm64-only", "inspect b:1/demo/edge:v1", "report --arch arm64"]) {
    assert.ok(text.includes(`  deno run -A main.ts ${command}\n`), command);
  }
  assert.ok(text.includes("index assemble --to b:1/demo/joined:v1 \\\n    b:1/demo/legacy:v1 b:1/demo/edge:v1\n"));
  assert.deepEqual(text.split("\n").filter((line) => line.length > 80), []);
});

Deno.test("renderWelcome() suggests builds and their page where there are no sample pods, and no pod", () => {
  const text = renderWelcome({ ...WELCOME, sample: "", scenario: "image-build" });
  assert.doesNotMatch(text, /run hello|get pods| explain \w+\/| report /);
  const builds = /get machineosbuilds -o "custom-columns=\\\nNAME:\.metadata\.name,\S+archway\\\.dev\/arch-status"\n/;
  assert.match(text, builds);
  assert.match(text, /\n {2}curl http:\/\/d\/builds\n/);
});

Deno.test("renderOutcomeTable() shows on 80 columns what each scenario is about, and why, without a long line", () => {
  for (const scenario of ["placement", "exec-format-error", "taints", "odd-pods"] as const) {
    const outcomes = samplesOf(scenario).map(({ name, images, expect: expected }) => ({
      ...{ pod: name, images, expected, ok: true, node: "ppc64le-1", nodeArchitecture: "ppc64le" },
      ...{ architectures: expected.architectures, decision: expected.decision, tolerates: expected.tolerates ?? [] },
      report: expected.reported || expected.contradicted
        ? 'Container "edge" is running a binary of another architecture.'
        : undefined,
    }));
    const table = renderOutcomeTable(outcomes, { registryHost: "", color: false, columns: 80 });
    // What is reported is folded where it is printed.
    const long = table.split("\n").filter((line) => line.length > 80 && !line.includes(": Container"));
    assert.deepEqual(long, [], scenario);
    assert.equal(/^POD .* TOLERATES/.test(table), scenario === "taints");
    assert.match(table, /^POD .* OK\b/);
  }
});

Deno.test("renderOutcomeTable() colours all lines of a row", () => {
  const [sample] = samplesOf("taints").filter(({ name }) => name === "left-alone");
  const outcome = readOutcome(expecting(NOWHERE_AT_ALL), NODES);
  const tolerates = sample?.expect.tolerates ?? [];
  const wide = { ...outcome, tolerates, expected: sample?.expect, pod: "a-pod-of-a-long-name" };
  const table = renderOutcomeTable([wide], { registryHost: "", color: true, columns: 80 });
  const [, ...rows] = table.split("\n").slice(0, 3);
  assert.ok(rows.length === 2 && rows.every((line) => line.startsWith("\x1b[31m") && line.endsWith("\x1b[0m")), table);
});

Deno.test("renderWelcome() suggests what the scenario is about", () => {
  const suggested = (scenario: Scenario): string =>
    renderWelcome({ ...WELCOME, scenario, sample: sampleNames(scenario)[0] ?? "" });
  assert.match(suggested("exec-format-error"), / explain demo\/lying-image\n/);
  assert.match(suggested("taints"), /\n {2}deno run -A main\.ts taints plan\n/);
  assert.doesNotMatch(suggested("placement"), /taints/);
});
