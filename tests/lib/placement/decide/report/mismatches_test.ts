// Warnings about images on nodes that cannot run them: those of DaemonSets and of ephemeral containers.
import assert from "node:assert/strict";
import { imagesToInspect, judgeImages } from "../../../../../lib/placement/decide/images.ts";
import { makeSettings } from "../../../../../lib/placement/decide/config/types.ts";
import { daemonSetReport, ephemeralReport } from "../../../../../lib/placement/decide/report/mismatches.ts";
import type { PodReport } from "../../../../../lib/placement/decide/report/report_slots.ts";
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

Deno.test("ephemeralReport() warns in one event of the ephemeral containers that cannot run on their node", () => {
  const images = ["single-amd64", "multi", "single-amd64"];
  const pod = make.view(make.pod({ nodeName: "n1", ephemeralContainers: images.map((image) => container(image)) }));
  const on = (nodeArchitecture: string): PodReport | undefined =>
    ephemeralReport(pod, nodeArchitecture, new Map(images.map((image) => [image, make.image(image)])));
  assert.match(on(ARM64)?.message ?? "", /"n1" \(arm64\).*\{amd64\}.*Ephemeral container "single-amd64".*\{amd64\}\.$/);
  assert.equal(on(AMD64), undefined);
});
