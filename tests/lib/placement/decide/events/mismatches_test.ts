import assert from "node:assert/strict";
import { judgeImages } from "../../../../../lib/placement/decide/judge_images.ts";
import { imagesToInspect } from "../../../../../lib/placement/decide/images_to_inspect.ts";
import {
  daemonSetEvent,
  exchangedContainers,
  lateImagesEvent,
} from "../../../../../lib/placement/decide/events/mismatches.ts";
import type { PodView } from "../../../../../lib/placement/decide/pod/pod_view.ts";
import { AMD64, ARCH, ARM64, container, type Json, make, running } from "../make.ts";

/** What is said of a DaemonSet with these images on nodes of these architectures. */
function reportOf(
  images: readonly string[],
  { spec = {}, nodes = [AMD64, ARM64] }: { readonly spec?: Json; readonly nodes?: readonly string[] } = {},
): string | undefined {
  const settings = make.settings();
  const template = make.view(make.pod({ ...running(...images), ...spec }));
  const inspected = images.map((image) => make.image(image));
  const judgement = judgeImages(template, settings, imagesToInspect(template, settings), inspected);
  return daemonSetEvent(template, judgement, nodes)?.message;
}

Deno.test("daemonSetEvent() warns of nodes that cannot run the images", () => {
  assert.match(reportOf(["single-amd64", "multi"]) ?? "", /\{arm64\}.*single-amd64 \(amd64\)/);
  assert.equal(reportOf(["single-amd64", "multi"], { nodes: [AMD64] }), undefined);
});

Deno.test("daemonSetEvent() is content where the DaemonSet keeps off the nodes that cannot run its images", () => {
  const said = (spec: Json): string | undefined => reportOf(["single-amd64"], { spec });
  assert.equal(said({ affinity: make.nodeAffinity([make.term([ARCH, AMD64])]) }), undefined);
  assert.equal(said({ nodeSelector: { "beta.kubernetes.io/arch": AMD64 } }), undefined);
  assert.match(said({ nodeSelector: { [ARCH]: ARM64 } }) ?? "", /\{arm64\}.*single-amd64 \(amd64\)/);
  assert.match(said({ nodeSelector: { disk: "fast" } }) ?? "", /\{arm64\}/);
});

type LateCase = readonly [
  what: string,
  images: readonly string[],
  nodeArchitecture: string | undefined,
  spec: Json,
  says?: RegExp,
];

const ONE = ["single-amd64"];
const LATE_CASES: readonly LateCase[] = [
  ["an image that has the node's architecture", ["multi", "single-amd64"], AMD64, {}],
  [
    "images that lack it, all in one event",
    ["single-amd64", "multi", "single-amd64"],
    ARM64,
    {},
    /"n1" \(arm64\).*\{amd64\}.*ontainer "single-amd64".*\{amd64\}\.$/,
  ],
  ["an image while neither node nor pod tells the architecture", ONE, undefined, {}],
  [
    "an image that no node has that the pod allows",
    ONE,
    undefined,
    { nodeSelector: { [ARCH]: ARM64 } },
    /"n1" \(arm64\): image single-amd64/,
  ],
  [
    "an image that some node has that the pod allows",
    ONE,
    undefined,
    { affinity: make.nodeAffinity([make.term([ARCH, AMD64, ARM64])]) },
  ],
  ["an image that the RuntimeClass emulates", ONE, ARM64, { runtimeClassName: "qemu" }],
  ["an image that was not inspected", ["no-such-image"], ARM64, {}],
];

for (const [what, images, nodeArchitecture, spec, says] of LATE_CASES) {
  Deno.test(`Q-06 lateImagesEvent() ${says === undefined ? "says nothing of" : "warns of"} ${what}`, () => {
    const raw = { nodeName: "n1", ephemeralContainers: images.map((image) => container(image)), ...spec };
    const pod = make.view(make.pod(raw));
    const said = lateImagesEvent(pod, {
      came: "ephemeral",
      containers: pod.ephemeralContainers,
      settings: make.settings({ runtimeClasses: { qemu: { kind: "add", architectures: [ARM64] } } }),
      nodeArchitecture,
      images: images.filter((image) => image !== "no-such-image").map((image) => make.image(image)),
    })?.message;
    if (says === undefined) assert.equal(said, undefined);
    else assert.match(said ?? "", says);
  });
}

Deno.test("Q-06 exchangedContainers() names those whose image is another, init containers too, and no new ones", () => {
  const podOf = (init: string, ...images: readonly string[]): PodView =>
    make.view(make.pod({ initContainers: [container(init)], ...running(...images) }));
  const exchanged = (before: PodView, after: PodView): readonly string[] =>
    exchangedContainers(before, after).map(({ image }) => image);
  assert.deepEqual(exchanged(podOf("a", "b", "c"), podOf("a", "b", "c")), []);
  assert.deepEqual(exchanged(podOf("a", "b", "c"), podOf("x", "b", "z")), ["x", "z"]);
  assert.deepEqual(exchanged(podOf("a", "b"), podOf("a", "b", "c")), []);
});
