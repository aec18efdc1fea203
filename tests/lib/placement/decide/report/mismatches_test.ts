import assert from "node:assert/strict";
import { imagesToInspect, judgeImages } from "../../../../../lib/placement/decide/images.ts";
import { makeSettings, type PlacementSettings } from "../../../../../lib/placement/decide/config/types.ts";
import {
  daemonSetReport,
  exchangedContainers,
  lateReport,
} from "../../../../../lib/placement/decide/report/mismatches.ts";
import type { PodReport } from "../../../../../lib/placement/decide/report/report_slots.ts";
import type { PodView } from "../../../../../lib/placement/decide/types.ts";
import { AMD64, ARCH, ARM64, container, make } from "../make.ts";

Deno.test("daemonSetReport() warns of nodes that cannot run the images", () => {
  const template = make.view(make.pod({ containers: [container("single-amd64"), container("multi")] }));
  const settings = makeSettings();
  const images = [make.image("single-amd64"), make.image("multi")];
  const judgement = judgeImages(template, settings, imagesToInspect(template, settings), images);
  const report = daemonSetReport(template, judgement, [AMD64, ARM64]);
  assert.match(report?.message ?? "", /\{arm64\}.*single-amd64 \(amd64\)/);
  assert.equal(daemonSetReport(template, judgement, [AMD64]), undefined);
});

Deno.test("daemonSetReport() is content where the DaemonSet keeps off the nodes that cannot run its images", () => {
  const settings = makeSettings();
  const reportOf = (spec: Record<string, unknown>): PodReport | undefined => {
    const template = make.view(make.pod({ containers: [container("single-amd64")], ...spec }));
    const judgement = judgeImages(template, settings, imagesToInspect(template, settings), [
      make.image("single-amd64"),
    ]);
    return daemonSetReport(template, judgement, [AMD64, ARM64]);
  };
  assert.equal(reportOf({ affinity: make.nodeAffinity([make.term([ARCH, AMD64])]) }), undefined);
  assert.equal(reportOf({ nodeSelector: { "beta.kubernetes.io/arch": AMD64 } }), undefined);
  assert.match(reportOf({ nodeSelector: { [ARCH]: ARM64 } })?.message ?? "", /\{arm64\}.*single-amd64 \(amd64\)/);
  assert.match(reportOf({ nodeSelector: { disk: "fast" } })?.message ?? "", /\{arm64\}/);
});

interface LateCase {
  readonly what: string;
  readonly images: readonly string[];
  /** Of the node; absent while nodes are not followed. */
  readonly node?: string;
  readonly spec?: Record<string, unknown>;
  readonly runtimeClasses?: PlacementSettings["runtimeClasses"];
  /** Absent: nothing is said. */
  readonly says?: RegExp;
}

const EMULATED = { qemu: { kind: "add", architectures: [ARM64] } } as const;
const LATE_CASES: readonly LateCase[] = [
  { what: "an image that has the node's architecture", images: ["multi", "single-amd64"], node: AMD64 },
  {
    what: "images that lack it, all in one event",
    images: ["single-amd64", "multi", "single-amd64"],
    node: ARM64,
    says: /"n1" \(arm64\).*\{amd64\}.*ontainer "single-amd64".*\{amd64\}\.$/,
  },
  { what: "an image while neither node nor pod tells the architecture", images: ["single-amd64"] },
  {
    what: "an image that no node has that the pod allows",
    images: ["single-amd64"],
    spec: { nodeSelector: { [ARCH]: ARM64 } },
    says: /"n1" \(arm64\): image single-amd64/,
  },
  {
    what: "an image that some node has that the pod allows",
    images: ["single-amd64"],
    spec: { affinity: make.nodeAffinity([make.term([ARCH, AMD64, ARM64])]) },
  },
  {
    what: "an image that the RuntimeClass emulates",
    images: ["single-amd64"],
    node: ARM64,
    spec: { runtimeClassName: "qemu" },
    runtimeClasses: EMULATED,
  },
  { what: "an image that was not inspected", images: ["no-such-image"], node: ARM64 },
];

for (const { what, images, node, spec, runtimeClasses = {}, says } of LATE_CASES) {
  Deno.test(`Q-06 lateReport() ${says === undefined ? "says nothing of" : "warns of"} ${what}`, () => {
    const raw = { nodeName: "n1", ephemeralContainers: images.map((image) => container(image)), ...spec };
    const pod = make.view(make.pod(raw));
    const report = lateReport(pod, {
      came: "ephemeral",
      containers: pod.ephemeralContainers,
      settings: makeSettings({ runtimeClasses }),
      nodeArchitecture: node,
      images: images.filter((image) => image !== "no-such-image").map((image) => make.image(image)),
    });
    assert.equal(report === undefined, says === undefined);
    if (says !== undefined) assert.match(report?.message ?? "", says);
  });
}

Deno.test("Q-06 exchangedContainers() names those whose image is another, init containers too, and no new ones", () => {
  const podOf = (init: string, ...images: readonly string[]): PodView =>
    make.view(make.pod({ initContainers: [container(init)], containers: images.map((image) => container(image)) }));
  const exchanged = (before: PodView, after: PodView): readonly string[] =>
    exchangedContainers(before, after).map(({ image }) => image);
  assert.deepEqual(exchanged(podOf("a", "b", "c"), podOf("a", "b", "c")), []);
  assert.deepEqual(exchanged(podOf("a", "b", "c"), podOf("x", "b", "z")), ["x", "z"]);
  assert.deepEqual(exchanged(podOf("a", "b"), podOf("a", "b", "c")), []);
});
