import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import { parse as parseYaml } from "yaml";
import { runExplain } from "../../../lib/cli/explain.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { type KubeApi, withCalls } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import type { PodImageInspector } from "../../../lib/placement/images/pod_image_inspector.ts";
import type { ImageVolumes, PlacementSettings } from "../../../lib/placement/decide/config/settings.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import type { InspectedImage } from "../../../lib/oci/inspection.ts";
import { ARCH, nodeAffinity, platformsFact, term } from "../placement/decide/make.ts";
import { PodAnnotation, SCHEDULING_GATE as GATE } from "../../../lib/names.ts";
import { openCommandBed, recordingTerminal, type Said } from "./support.ts";

/** What a registry says; absent: it is not to be asked. */
function imagesOf(facts: readonly InspectedImage[] | undefined): AsyncDisposable & Pick<PodImageInspector, "inspect"> {
  assert.ok(facts !== undefined, "an image is inspected");
  const inspect: PodImageInspector["inspect"] = ({ images }) =>
    Promise.resolve(facts.filter(({ image }) => images.some((use) => use.image === image)));
  return { inspect, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function run(
  api: KubeApi,
  operand: string,
  options: {
    readonly output?: "table" | "json" | "yaml";
    readonly color?: boolean;
    readonly columns?: number;
    readonly clock?: Clock;
    readonly facts?: readonly InspectedImage[];
    readonly settings?: PlacementSettings;
  } = {},
): Promise<{ readonly code: number; readonly said: Said }> {
  const { output = "table", color = false, columns, clock = systemClock, facts, settings = makeSettings() } = options;
  const { terminal, said } = recordingTerminal({ color });
  const { signal } = new AbortController();
  const code = await runExplain(
    { api, terminal: { ...terminal, columns }, clock, signal, openImages: () => Promise.resolve(imagesOf(facts)) },
    { positionals: [operand], podNamespace: "default", output, settings },
  );
  return { code, said };
}

const ESCAPE = "\x1b";
const DIGEST = `sha256:${"ab".repeat(32)}`;
/** What a release leaves on a pod whose only image is for arm64. */
const PLACED = {
  labels: { [GATE]: "removed" },
  annotations: {
    [PodAnnotation.decision]:
      `{"v":1,"d":"place","a":["arm64"],"i":[["demo/edge:v1","${DIGEST}",["arm64"],"registry"]]}`,
  },
};

function edgeOn(architecture: string): readonly InspectedImage[] {
  return [platformsFact("demo/edge:v1", [{ os: "linux", architecture }])];
}

Deno.test("runExplain() prints state, reason, next step and images of a placed pod", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("edge", {}, PLACED);
  const { code, said } = await run(bed.api, "pod/edge");
  assert.deepEqual([code, said.err, said.out.split("\n")], [0, "", [
    "Pod     default/edge",
    "State   Pending: the scheduler has not placed it yet.",
    "Why     Its images all run on {arm64}, so it may run only there.",
    "Next    Nothing to do.",
    "",
    "IMAGE          ARCHITECTURES   SOURCE     DIGEST",
    `demo/edge:v1   arm64           registry   ${DIGEST.slice(0, 19)}`,
    "",
  ]]);
});

Deno.test("runExplain() prints no line longer than the terminal: sentences go on below, the digest gives way", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("edge", {}, PLACED);
  const { said } = await run(bed.api, "pod/edge", { columns: 45 });
  assert.deepEqual(said.out.split("\n"), [
    "Pod     default/edge",
    "State   Pending: the scheduler has not placed",
    "        it yet.",
    "Why     Its images all run on {arm64}, so it",
    "        may run only there.",
    "Next    Nothing to do.",
    "",
    "IMAGE          ARCHITECTURES   SOURCE",
    "demo/edge:v1   arm64           registry",
    "",
  ]);
});

Deno.test("runExplain() prints one document as JSON and as YAML, of the same shape for every pod", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("edge", {}, PLACED);
  await bed.createPod("plain");
  const placed = JSON.parse((await run(bed.api, "edge", { output: "json", color: true })).said.out);
  assert.deepEqual(parseYaml((await run(bed.api, "edge", { output: "yaml", color: true })).said.out), placed);
  const plain = JSON.parse((await run(bed.api, "plain", { output: "json" })).said.out);
  const shape = ["namespace", "pod", "state", "node", "explanation", "next", "record"];
  assert.deepEqual([Object.keys(placed), Object.keys(plain)], [shape, shape]);
  assert.deepEqual(placed.record.images[0].architectures, ["arm64"]);
  assert.deepEqual([plain.state, plain.node, plain.record], ["pending", "", null]);
});

Deno.test("runExplain() colours the state on a terminal that has colours, and nothing elsewhere", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("held", { schedulingGates: [{ name: GATE }] }, { labels: { [GATE]: "gated" } });
  const [nowMs, api] = [systemClock.nowMs(), withCalls(bed.api, { serverClockOffsetMs: () => 0 })];
  const clock: Clock = { ...systemClock, nowMs: () => nowMs };
  const [plain, colored] = [await run(api, "held", { clock }), await run(api, "held", { clock, color: true })];
  assert.equal(plain.said.out.includes(ESCAPE), false);
  assert.equal(stripVTControlCharacters(colored.said.out), plain.said.out);
  assert.ok(colored.said.out.includes(`${ESCAPE}[33mHeld by Archway's gate`));
});

Deno.test("runExplain() answers 1 and says how pods are named when there is none", async () => {
  await using bed = await openCommandBed();
  const { code, said } = await run(bed.api, "pod/nobody");
  assert.deepEqual([code, said.out], [1, ""]);
  assert.match(said.err, /^archway: Cannot explain pod "nobody": there is none in namespace "default"\. Name it as/);
});

Deno.test("runExplain() finds out why a pod without marks has none, as far as it may look", async () => {
  await using bed = await openCommandBed();
  await bed.createPod("plain");
  assert.match((await run(bed.api, "plain")).said.out, /pod placement is off/);
  const spec = { namespaceSelector: { matchLabels: { team: "a" } } };
  const config = { apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig", spec };
  await bed.api.create(Resource.clusterConfigs, { ...config, metadata: { name: "cluster" } }, { signal: bed.signal });
  assert.match((await run(bed.api, "plain")).said.out, /does not select its namespace/);
  const forbidden = new ApiError("forbidden", { status: 403, reason: "Forbidden" });
  const blind = withCalls(bed.api, {
    get: (type, target, signal) =>
      type === Resource.pods ? bed.api.get(type, target, signal) : Promise.reject(forbidden),
  });
  assert.match((await run(blind, "plain")).said.out, /its namespace is not selected, or the webhook was away/);
});

Deno.test("runExplain() throws when the API server does not let it read the pod", async () => {
  await using bed = await openCommandBed();
  const forbidden = new ApiError("pods is forbidden", { status: 403, reason: "Forbidden" });
  await assert.rejects(run(withCalls(bed.api, { get: () => Promise.reject(forbidden) }), "web"), /forbidden/);
});

Deno.test("Q-01 runExplain() names the contradiction of a pod that pins an architecture which its image lacks", async () => {
  await using bed = await openCommandBed();
  const containers = [{ name: "web", image: "demo/edge:v1" }];
  await bed.createPod("pinned", { nodeSelector: { "kubernetes.io/arch": "amd64" }, containers });
  const { said } = await run(bed.api, "pod/pinned", { facts: edgeOn("arm64") });
  assert.match(said.out, /^Why +A pod requires nodes of \{amd64\} .* demo\/edge:v1 has \{arm64\}/m);
  assert.match(said.out, /^Next +Use images that have the architecture/m);
  assert.doesNotMatch((await run(bed.api, "pod/pinned", { facts: edgeOn("amd64") })).said.out, /requires nodes/);
});

Deno.test("Q-01 runExplain() goes by the settings, and by what a user pins beside Archway's own requirement", async () => {
  await using bed = await openCommandBed();
  const volumes = [{ name: "model", image: { reference: "demo/model:v1" } }];
  const containers = [{ name: "web", image: "demo/edge:v1" }];
  const affinity = nodeAffinity([term([ARCH, "arm64"])]);
  const old = { nodeSelector: { "beta.kubernetes.io/arch": "amd64" }, affinity, containers };
  await bed.createPod("old", old, PLACED);
  await bed.createPod("mounting", { nodeSelector: { [ARCH]: "arm64" }, containers, volumes });
  const facts = edgeOn("arm64");
  await bed.createPod("queued", { nodeSelector: { [ARCH]: "amd64" }, affinity, containers }, PLACED);
  for (const name of ["pod/old", "pod/queued"]) {
    const { said } = await run(bed.api, name, { facts });
    assert.match(said.out, /requires nodes of \{amd64\}.*edge:v1 has \{arm64\}/, name);
  }
  const both = [...facts, platformsFact("demo/model:v1", [{ os: "linux", architecture: "amd64" }])];
  const explained = async (imageVolumes: ImageVolumes): Promise<boolean> => {
    const { said } = await run(bed.api, "pod/mounting", { facts: both, settings: makeSettings({ imageVolumes }) });
    return said.out.includes("model:v1 has");
  };
  assert.deepEqual([await explained("auto"), await explained("ignore")], [true, false]);
});

Deno.test("Q-06 runExplain() names an image that came to a pod on its node and does not run there", async () => {
  await using bed = await openCommandBed();
  const containers = [{ name: "web", image: "demo/other:v2" }];
  await bed.createPod("edge", { nodeName: "n1", containers, nodeSelector: { "kubernetes.io/arch": "arm64" } }, PLACED);
  const facts = [platformsFact("demo/other:v2", [{ os: "linux", architecture: "amd64" }])];
  const { said } = await run(bed.api, "pod/edge", { facts });
  assert.match(said.out, /Container "web" cannot run on node "n1" \(arm64\): image demo\/other:v2 supports \{amd64\}/);
});

Deno.test("runExplain() inspects the images of a failing pod that nobody placed, and says which lack its node's architecture", async () => {
  await using bed = await openCommandBed();
  const node = { metadata: { name: "n1", labels: { [ARCH]: "amd64" } } };
  await bed.api.create(Resource.nodes, { apiVersion: "v1", kind: "Node", ...node }, { signal: bed.signal });
  const containers = [{ name: "edge", image: "demo/edge:v1" }];
  await bed.createPod("bound", { nodeName: "n1", containers }, { labels: { [GATE]: "not-set" } });
  const status = (state: Record<string, unknown>): Record<string, unknown> => ({
    phase: "Running",
    containerStatuses: [{ name: "edge", state }],
  });
  const withState = (state: Record<string, unknown>): KubeApi =>
    withCalls(bed.api, {
      get: async (type, target, signal) => ({ ...await bed.api.get(type, target, signal), status: status(state) }),
    });
  const facts = edgeOn("arm64");
  const failing = withState({ waiting: { reason: "CrashLoopBackOff", message: "back-off" } });
  const { said } = await run(failing, "pod/bound", { facts });
  const lacking = 'Container "edge" cannot run on node "n1" (amd64): image demo/edge:v1 supports {arm64}.\n';
  assert.equal(/^Why +(.*\n)/m.exec(said.out)?.[1], lacking);
  assert.match(said.out, /^Next +Use images that have the architecture, or change what makes the pod: .* node name/m);
  const right = await run(failing, "pod/bound", { facts: edgeOn("amd64") });
  assert.match(right.said.out, /^Next +Read what it wrote: kubectl logs/m);
  // Nothing is asked about a pod that runs.
  assert.doesNotMatch((await run(withState({ running: {} }), "pod/bound")).said.out, /cannot run/);
});
