import assert from "node:assert/strict";
import type { InspectedImage } from "../../../../lib/oci/inspection.ts";
import { reportOf } from "../../../../lib/report/decide/cluster_report.ts";
import { templateFacts } from "../../../../lib/report/decide/inventory.ts";
import { blockersOf, supportOf } from "../../../../lib/report/decide/support.ts";
import { renderReport } from "../../../../lib/cli/report_text.ts";
import type { ImageVolumes, PlacementSettings } from "../../../../lib/placement/decide/config/settings.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import type { Workload, WorkloadSupport } from "../../../../lib/report/decide/types.ts";
import {
  AMD64,
  ARCH,
  ARM64,
  bundleFact,
  failedFact,
  type Json,
  nodeAffinity,
  platformsFact,
  podOf,
  rawPod,
  singleFact,
  term,
} from "../../placement/decide/make.ts";

const CANDIDATES = [AMD64, ARM64];
const WINDOWS = { os: "windows", architecture: AMD64 };

function linux(...architectures: readonly string[]): { readonly os: string; readonly architecture: string }[] {
  return architectures.map((architecture) => ({ os: "linux", architecture }));
}

const LYING_DIGEST = `sha256:${"1".repeat(64)}`;

function lyingFact(): InspectedImage {
  const fact = platformsFact("lying", linux(AMD64, ARM64));
  return { ...fact, inspection: { ...fact.inspection, digest: LYING_DIGEST } as InspectedImage["inspection"] };
}

const IMAGES: readonly InspectedImage[] = [
  platformsFact("both", linux(AMD64, ARM64)),
  platformsFact("old", linux(AMD64)),
  platformsFact("exotic", linux(AMD64, "riscv64")),
  lyingFact(),
  platformsFact("other-os", [WINDOWS]),
  bundleFact("bundle"),
  failedFact("data", { kind: "permanent", reason: "NotAnImage", message: "its config is empty" }),
  singleFact("single", AMD64),
  platformsFact("wasm", [{ os: "wasi", architecture: "wasm" }]),
  failedFact("broken", { kind: "permanent", reason: "Unauthorized", message: "no" }),
];

function workload(images: readonly string[], spec: Json = {}): Workload {
  const facts = templateFacts(podOf(rawPod(spec)), CANDIDATES);
  return { kind: "Deployment", namespace: "shop", name: images.join("+"), ...facts, images, volumes: [] };
}

function support(images: readonly string[], spec: Json = {}): WorkloadSupport {
  return supportOfWorkload(workload(images, spec));
}

function supportOfWorkload(workload: Workload, changes: Partial<PlacementSettings> = {}): WorkloadSupport {
  return supportOf(workload, {
    candidates: CANDIDATES,
    settings: makeSettings(changes),
    inspected: (image) => IMAGES.find((one) => one.image === image),
    failedOn: (digest) => digest === LYING_DIGEST ? [ARM64, "s390x"] : [],
  });
}

const VOLUMES: readonly (readonly [volume: string, setting: ImageVolumes, runsOn: readonly string[]])[] = [
  ["old", "auto", [AMD64]],
  ["single", "auto", CANDIDATES],
  ["data", "auto", CANDIDATES],
  ["old", "require", [AMD64]],
  ["single", "require", [AMD64]],
  ["data", "require", CANDIDATES],
  ["old", "ignore", CANDIDATES],
];

for (const [volume, setting, runsOn] of VOLUMES) {
  Deno.test(`Q-03 supportOf() of a workload that mounts ${volume} says [${runsOn}] by imageVolumes: ${setting}`, () => {
    const mounting = { ...workload(["both", volume]), volumes: [volume] };
    const found = supportOfWorkload(mounting, { imageVolumes: setting });
    assert.deepEqual([found.architectures, found.isKnown], [runsOn, true]);
    assert.equal(found.images.length, setting === "ignore" ? 1 : 2);
  });
}

for (const [runtimeClassName, runsOn] of [["wasmtime", CANDIDATES], ["kata", []]] as const) {
  Deno.test(`Q-04 supportOf() of a Wasm image by RuntimeClass ${runtimeClassName} says [${runsOn}]`, () => {
    assert.deepEqual(support(["wasm"], { runtimeClassName }).architectures, runsOn);
  });
}

Deno.test("Q-04 supportOf() counts where runtimeClasses of the settings let an image run, and a native one beside Wasm does not", () => {
  const runtimeClasses = { mine: { kind: "add", architectures: CANDIDATES } } as const;
  const runsOn = (...images: readonly string[]): readonly string[] =>
    supportOfWorkload(workload(images, { runtimeClassName: "mine" }), { runtimeClasses }).architectures;
  assert.deepEqual([runsOn("wasm"), runsOn("old"), runsOn("wasm", "old")], [CANDIDATES, CANDIDATES, [AMD64]]);
});

Deno.test("Q-01 supportOf() of a pin that is not among the known architectures says where its images run", () => {
  const pinned = { nodeSelector: { [ARCH]: "riscv64" } };
  const found = [["exotic"], ["bundle"], ["old"]].map((images) => support(images, pinned));
  assert.deepEqual(found.map(({ architectures }) => architectures), [["riscv64"], ["riscv64"], []]);
  const text = renderReport(reportOf(found, { candidates: CANDIDATES, architecture: undefined }));
  assert.match(text, /shop\/exotic +riscv64 \(constrains itself\)/);
  assert.match(text, /shop\/old +none \(names riscv64; old has amd64\)/);
});

const CONSTRAINTS: readonly (readonly [name: string, spec: Json, allowed: readonly string[] | undefined])[] = [
  ["nothing", {}, undefined],
  ["a nodeSelector about something else", { nodeSelector: { disk: "ssd" } }, undefined],
  ["a nodeSelector", { nodeSelector: { [ARCH]: AMD64 } }, [AMD64]],
  ["the label's old name", { nodeSelector: { "beta.kubernetes.io/arch": AMD64 } }, [AMD64]],
  ["a term", { affinity: nodeAffinity([term([ARCH, AMD64])]) }, [AMD64]],
  ["terms as alternatives", { affinity: nodeAffinity([term([ARCH, AMD64]), term([ARCH, ARM64])]) }, CANDIDATES],
  ["a term that names none", { affinity: nodeAffinity([term([ARCH, AMD64]), term(["disk", "ssd"])]) }, CANDIDATES],
  ["NotIn", {
    affinity: nodeAffinity([{ matchExpressions: [{ key: ARCH, operator: "NotIn", values: [AMD64] }] }]),
  }, [ARM64]],
  ["Exists", { affinity: nodeAffinity([{ matchExpressions: [{ key: ARCH, operator: "Exists" }] }]) }, CANDIDATES],
  ["another architecture", { nodeSelector: { [ARCH]: "riscv64" } }, ["riscv64"]],
];

for (const [name, spec, allowed] of CONSTRAINTS) {
  Deno.test(`templateFacts() has the constraint of a pod with ${name}`, () => {
    assert.deepEqual(templateFacts(podOf(rawPod(spec)), CANDIDATES).constrainedTo, allowed);
  });
}

Deno.test("templateFacts() leaves out what Archway has written into a pod", () => {
  const decision = JSON.stringify({ v: 1, d: "place", a: [ARM64], i: [] });
  const spec = { affinity: nodeAffinity([term([ARCH, ARM64])]) };
  const placed = rawPod(spec, { annotations: { "archway.dev/decision": decision } });
  assert.equal(templateFacts(podOf(placed), CANDIDATES).constrainedTo, undefined);
  assert.deepEqual(templateFacts(podOf(rawPod(spec)), CANDIDATES).constrainedTo, [ARM64]);
});

Deno.test("supportOf() intersects the images with the workload's own constraint", () => {
  assert.deepEqual(support(["both", "bundle"]).architectures, CANDIDATES);
  assert.deepEqual(support(["both", "old"]).architectures, [AMD64]);
  assert.deepEqual(support(["both"], { nodeSelector: { [ARCH]: ARM64 } }).architectures, [ARM64]);
  assert.deepEqual(support(["other-os"]).architectures, []);
  assert.deepEqual(support(["other-os"], { nodeSelector: { "kubernetes.io/os": "windows" } }).architectures, [AMD64]);
});

Deno.test("supportOf() counts an architecture on which the program has failed as missing, and keeps what is claimed", () => {
  const { architectures, images: [image] } = support(["lying"]);
  assert.deepEqual([architectures, image?.architectures, image?.failedOn], [[AMD64], CANDIDATES, [ARM64]]);
});

Deno.test("supportOf() narrows by no image that could not be inspected, and reports that it is not known", () => {
  const { architectures, isKnown, images } = support(["old", "broken", "never asked"]);
  assert.deepEqual([architectures, isKnown], [[AMD64], false]);
  assert.deepEqual(images.map(({ failure }) => failure?.reason), [undefined, "Unauthorized", "Timeout"]);
  assert.equal(support(["both"]).isKnown, true);
});

Deno.test("blockersOf() names each reason, and none where the workload runs", () => {
  const constrained = support(["both", "old", "lying", "broken"], { nodeSelector: { [ARCH]: AMD64 } });
  assert.deepEqual(blockersOf(constrained, ARM64), [
    { kind: "constrained", to: [AMD64] },
    { kind: "lacking", image: "old", architectures: [AMD64] },
    { kind: "failed", image: "lying" },
    { kind: "unknown", image: "broken", reason: "Unauthorized" },
  ]);
  assert.deepEqual(blockersOf(support(["both", "old"]), AMD64), []);
});

Deno.test("reportOf() counts for each architecture what runs, what is blocked and what is not known", () => {
  const all = [support(["both"]), support(["old"]), support(["broken"]), support(["broken", "old"])];
  const report = reportOf(all, { candidates: CANDIDATES, architecture: ARM64 });
  assert.deepEqual(report.totals, [
    { architecture: AMD64, runs: 2, blocked: 0, unknown: 2 },
    { architecture: ARM64, runs: 1, blocked: 2, unknown: 1 },
  ]);
  assert.deepEqual(report.blocked?.map(({ name, verdict }) => `${name} ${verdict}`), [
    "old blocked",
    "broken unknown",
    "broken+old blocked",
  ]);
  assert.equal(reportOf(all, { candidates: CANDIDATES, architecture: undefined }).blocked, undefined);
});

Deno.test("reportOf() lists an image once, with what one workload could inspect and where it fails in any", () => {
  const seen = support(["lying"]);
  const [image = assert.fail("no image")] = seen.images;
  const unseen = {
    ...seen,
    name: "blind",
    images: [{
      ...image,
      digest: "",
      architectures: [],
      failedOn: [],
      failure: { kind: "permanent", reason: "Unauthorized", message: "no" } as const,
    }],
  };
  for (const workloads of [[seen, unseen], [unseen, seen]]) {
    const { images } = reportOf(workloads, { candidates: CANDIDATES, architecture: undefined });
    assert.deepEqual(images.map((one) => [one.image, one.architectures, one.failedOn, one.failure, one.workloads]), [
      ["lying", CANDIDATES, [ARM64], undefined, 2],
    ]);
  }
});
