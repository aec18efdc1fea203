import type { ImageVolumes, PlacementSettings } from "../../../../lib/placement/decide/config/settings.ts";
import type { ImageFailure, ImageJudgement } from "../../../../lib/placement/decide/decision_types.ts";
import type { PodView } from "../../../../lib/placement/decide/pod/pod_view.ts";
import type { InspectedImage } from "../../../../lib/oci/inspection.ts";
import assert from "node:assert/strict";
import { judgeImages } from "../../../../lib/placement/decide/judge_images.ts";
import { imagesToInspect, reduceToImages } from "../../../../lib/placement/decide/images_to_inspect.ts";
import { AMD64, ARM64, type Json, make, PPC64LE, type Row, rows, S390X, singleFact } from "./make.ts";

interface Given {
  readonly spec?: Json;
  readonly images: readonly InspectedImage[];
}

function judged({ spec, images }: Given, settings = make.settings()): ReturnType<typeof judgeImages> {
  const containers = images.map(({ image }) => make.container(image));
  return judge(make.view(make.pod({ containers, ...spec })), { settings, images });
}

function judge(
  pod: PodView,
  { settings = make.settings(), images }: {
    readonly settings?: PlacementSettings;
    readonly images: readonly InspectedImage[];
  },
): ImageJudgement {
  return judgeImages(pod, settings, imagesToInspect(pod, settings), images);
}

function sharedOf(judgement: ImageJudgement): readonly string[] {
  return judgement.kind === "shared" ? judgement.architectures : assert.fail(judgement.kind);
}

function failedOf(judgement: ImageJudgement): ImageFailure {
  return judgement.kind === "failed" ? judgement.failed : assert.fail(judgement.kind);
}

function shares(id: string, given: Given, expected: readonly string[]): Row {
  const title = `judgeImages() of ${given.images.map(({ image }) => image).join(" + ")} shares [${expected}]`;
  return [id, title, () => assert.deepEqual(sharedOf(judged(given)), expected)];
}

function fails(id: string, images: readonly InspectedImage[], image: string): Row {
  return [id, `judgeImages() fails by ${image}`, () => assert.equal(failedOf(judged({ images })).image, image)];
}

const linux = (image: string, ...architectures: readonly string[]): InspectedImage =>
  make.imageOf(image, architectures.map((architecture) => ({ os: "linux", architecture })));
const EVERYWHERE = [AMD64, ARM64, PPC64LE, S390X];
const WINDOWS = make.imageOf("windows", [{ os: "windows", architecture: AMD64 }]);
const WASI = { os: "wasi", architecture: "wasm" };
const WASM = make.imageOf("wasm", [WASI]);
const WASM_AND_LINUX = make.imageOf("both", [WASI, { os: "linux", architecture: S390X }]);
const WASIP1 = { os: "wasip1", architecture: "wasm" };
const WASIP1_AND_LINUX = make.imageOf("p1", [WASIP1, { os: "linux", architecture: S390X }]);
const MIXED_OS = make.imageOf("mixed", [{ os: "windows", architecture: AMD64 }, { os: "linux", architecture: ARM64 }]);
const INIT = {
  initContainers: [{ ...make.container("single-arm64"), restartPolicy: "Always" }],
  containers: [make.container("multi")],
};

rows([
  shares("PM-18", { images: [make.image("multi")] }, [AMD64, ARM64]),
  shares("PM-19", { images: [make.image("single-arm64")] }, [ARM64]),
  shares("PM-20", { images: [make.image("multi"), make.image("multi")] }, [AMD64, ARM64]),
  shares("PM-21", { images: [make.image("multi"), make.image("single-arm64")] }, [ARM64]),
  shares("PM-22", { images: [make.image("multi"), make.image("multi2")] }, [AMD64, ARM64]),
  fails("PM-23", [make.image("multi"), make.image("non-existing")], "non-existing"),
  shares("PM-24", {
    spec: { initContainers: [make.container("multi2")], containers: [make.container("multi")] },
    images: [make.image("multi"), make.image("multi2")],
  }, [AMD64, ARM64]),
  fails("PM-25", [make.image("multi"), make.image("non-existing")], "non-existing"),
  shares("PM-26", { images: [make.image("single-amd64"), make.image("single-arm64")] }, []),
  shares("PR-11", { images: [make.bundle("bundle"), linux("b", PPC64LE, S390X)] }, [PPC64LE, S390X]),
  shares("PR-12", { images: [linux("b", PPC64LE, S390X), make.bundle("bundle")] }, [PPC64LE, S390X]),
  shares("DV-36", { spec: INIT, images: [make.image("single-arm64"), make.image("multi")] }, [ARM64]),
  shares("DV-39", { images: [make.image("exotic")] }, [AMD64, "riscv64"]),
  shares("DV-87", { images: [MIXED_OS] }, [ARM64]),
  shares("DV-87", { spec: { os: { name: "windows" } }, images: [MIXED_OS] }, [AMD64]),
  shares("DV-87", { spec: { nodeSelector: { "kubernetes.io/os": "windows" } }, images: [MIXED_OS] }, [AMD64]),
  shares("DV-88", {
    images: [make.imageOf("arm", [
      { os: "linux", architecture: "arm", variant: "v6" },
      { os: "linux", architecture: "arm", variant: "v7" },
    ])],
  }, ["arm"]),
]);

Deno.test("judgeImages() takes images that all run anywhere for all known architectures", () => {
  assert.deepEqual(sharedOf(judged({ images: [make.bundle("one"), make.bundle("two")] })), EVERYWHERE);
});

Deno.test("judgeImages() fails for good when an image has no platform for the pod's operating system", () => {
  const { failure } = failedOf(judged({ images: [WINDOWS] }));
  assert.deepEqual([failure.kind, failure.reason], ["permanent", "NotAnImage"]);
  assert.match(failure.message, /windows\/amd64/);
});

Deno.test("judgeImages() drops architectures that no label can name", () => {
  assert.deepEqual(sharedOf(judged({ images: [linux("odd", AMD64, "unknown", "", "a b")] })), [AMD64]);
});

Deno.test("judgeImages() prefers a permanent failure to transient ones", () => {
  const gone = make.failedImage("gone", { kind: "permanent", reason: "ManifestUnknown" });
  assert.equal(failedOf(judged({ images: [make.image("flaky"), make.image("multi"), gone] })).image, "gone");
});

Deno.test("judgeImages() waits as long as the slowest registry asks", () => {
  const images = [2_000, 9_000].map((retryAfterMs) =>
    make.failedImage(`${retryAfterMs}`, { kind: "transient", reason: "RateLimited", retryAfterMs })
  );
  assert.equal(failedOf(judged({ images })).failure.retryAfterMs, 9_000);
});

Deno.test("judgeImages() takes an image that nobody inspected for a transient failure", () => {
  const pod = make.view(make.pod({ containers: [make.container("multi"), make.container("late")] }));
  const { image, failure } = failedOf(judge(pod, { images: [make.image("multi")] }));
  assert.deepEqual([image, failure.kind], ["late", "transient"]);
});

/** Settings by which a RuntimeClass runs these architectures besides. */
function adding(runtimeClass: string, ...architectures: readonly string[]): PlacementSettings {
  return make.settings({ runtimeClasses: { [runtimeClass]: { kind: "add", architectures } } });
}

const MOUNTED = [{ name: "v", image: { reference: "volume" } }];
const DATA = make.failedImage("volume", { kind: "permanent", reason: "NotAnImage" });
const SINGLE = singleFact("volume", AMD64);
const INDEX = linux("volume", AMD64);
const VOLUMES: readonly (readonly [what: string, InspectedImage, setting: ImageVolumes, shared: readonly string[]])[] =
  [
    ["an index", INDEX, "auto", [AMD64]],
    ["an index without the containers' architectures", linux("volume", PPC64LE), "auto", []],
    ["a single manifest", SINGLE, "auto", [AMD64, ARM64]],
    ["plain data", DATA, "auto", [AMD64, ARM64]],
    ["an index", INDEX, "require", [AMD64]],
    ["a single manifest", SINGLE, "require", [AMD64]],
    ["plain data", DATA, "require", [AMD64, ARM64]],
    ["an index", INDEX, "ignore", [AMD64, ARM64]],
  ];

for (const [what, volume, imageVolumes, shared] of VOLUMES) {
  Deno.test(`Q-03 judgeImages() of a pod that mounts ${what} shares [${shared}] by imageVolumes: ${imageVolumes}`, () => {
    const settings = make.settings({ imageVolumes });
    const pod = make.view(make.pod({ volumes: MOUNTED }));
    const wanted = imagesToInspect(pod, settings);
    const images = [make.image("multi"), volume].filter(({ image }) => wanted.some((use) => use.image === image));
    assert.deepEqual(sharedOf(judgeImages(pod, settings, wanted, images)), shared);
  });
}

Deno.test("Q-03 judgeImages() takes an image that is mounted and runs, too, for one that runs", () => {
  const pod = make.view(make.pod({ containers: [make.container("volume")], volumes: MOUNTED }));
  assert.deepEqual(sharedOf(judge(pod, { images: [SINGLE] })), [AMD64]);
});

Deno.test("Q-03 judgeImages() lets no runtime class emulate what is mounted", () => {
  const pod = make.view(make.pod({ runtimeClassName: "qemu", volumes: MOUNTED }));
  const images = [make.image("single-amd64"), make.image("multi"), INDEX];
  assert.deepEqual(sharedOf(judge(pod, { settings: adding("qemu", ARM64), images })), [AMD64]);
});

Deno.test("judgeImages() adds what a runtime class can run besides", () => {
  const given = { spec: { runtimeClassName: "qemu" }, images: [make.image("single-amd64")] };
  assert.deepEqual(sharedOf(judged(given, adding("qemu", ARM64))), [AMD64, ARM64]);
});

Deno.test("judgeImages() counts what a runtime class of Wasm adds for the images that are Wasm alone", () => {
  const settings = adding("wasmtime", AMD64, ARM64);
  const spec = { runtimeClassName: "wasmtime" };
  const cases: readonly (readonly [images: readonly InspectedImage[], shared: readonly string[]])[] = [
    [[WASM], [AMD64, ARM64]],
    [[WASM, make.image("single-amd64")], [AMD64]],
    [[WASM, linux("narrow", PPC64LE)], []],
    [[WASM_AND_LINUX], [AMD64, ARM64, S390X]],
    [[WASIP1_AND_LINUX], [AMD64, ARM64, S390X]],
  ];
  for (const [images, shared] of cases) {
    assert.deepEqual(sharedOf(judged({ spec, images }, settings)), shared);
  }
  assert.equal(judged({ spec, images: [WASM, WINDOWS] }, settings).kind, "failed");
});

const WASM_CASES: readonly (readonly [runtimeClass: string, images: readonly InspectedImage[], readonly string[]])[] = [
  ["wasmtime", [WASM], EVERYWHERE],
  ["wasmtime-spin-v2", [WASM], EVERYWHERE],
  ["wasmedge", [WASM, make.image("single-amd64")], [AMD64]],
  ["crun-wasm", [WASM, make.image("multi")], [AMD64, ARM64]],
  ["spin", [make.imageOf("p1", [WASIP1])], EVERYWHERE],
  ["wasmtime", [make.image("single-amd64")], [AMD64]],
  ["wasmtime", [WASM_AND_LINUX], EVERYWHERE],
];

for (const [runtimeClassName, images, shared] of WASM_CASES) {
  const names = images.map(({ image }) => image).join(" + ");
  Deno.test(`Q-04 judgeImages() of ${names} by RuntimeClass ${runtimeClassName} shares [${shared}]`, () => {
    assert.deepEqual(sharedOf(judged({ spec: { runtimeClassName }, images })), shared);
  });
}

for (const runtimeClassName of ["", "kata", "gvisor", "spinning", "swasm"]) {
  Deno.test(`Q-04 judgeImages() fails for a Wasm image by RuntimeClass "${runtimeClassName}", and says what to name`, () => {
    const { failure } = failedOf(judged({ spec: { runtimeClassName }, images: [WASM] }));
    assert.match(failure.message, /name a RuntimeClass that runs Wasm/);
  });
}

Deno.test("Q-04 judgeImages() takes a setting of a RuntimeClass before its name", () => {
  const judgement = judged({ spec: { runtimeClassName: "wasmtime" }, images: [WASM] }, adding("wasmtime", ARM64));
  assert.deepEqual(sharedOf(judgement), [ARM64]);
  assert.deepEqual(judgement.outcomes.map(({ architectures }) => architectures), [[ARM64]]);
});

Deno.test("judgeImages() asks for the config of index-depth images that exclude what another image offers", () => {
  const worth = (...images: readonly InspectedImage[]): readonly string[] => {
    const pod = make.view(make.pod({ containers: images.map(({ image }) => make.container(image)) }));
    return judge(pod, { images }).possibleBundles;
  };
  assert.deepEqual(worth(linux("bundle", PPC64LE, ARM64), linux("b", PPC64LE, S390X)), ["bundle", "b"]);
  assert.deepEqual(worth(linux("wide", AMD64, ARM64), linux("narrow", ARM64)), ["narrow"]);
  assert.deepEqual(worth(linux("a", AMD64, ARM64), linux("b", ARM64, AMD64)), []);
  assert.deepEqual(worth(linux("alone", AMD64)), []);
  assert.deepEqual(worth(make.bundle("bundle"), linux("b", PPC64LE, S390X)), []);
});

const NO_IMAGE = make.failedImage("disk", { kind: "permanent", reason: "NotAnImage" });

/** The pod of a virtual machine as KubeVirt makes it, changed. */
function launcher(changes: Json = {}, labels: Json = { "kubevirt.io": "virt-launcher" }, name = "volumeroot"): PodView {
  const disk = (as: string): Json => ({ ...make.container("disk"), name: as, command: ["/usr/bin/container-disk"] });
  return make.view(make.pod({
    nodeSelector: { "kubevirt.io/schedulable": "true", "kubevirt.io/vm-arch-arm64": "true" },
    initContainers: [{ ...make.container("launcher"), command: ["/usr/bin/cp"] }, disk(`${name}-init`)],
    containers: [{ ...make.container("launcher"), name: "compute" }, disk(name)],
    ...changes,
  }, { labels }));
}

const LAUNCHER = linux("launcher", AMD64, S390X);
const MACHINES: readonly (readonly [name: string, pod: PodView, disk: InspectedImage, shares: string])[] = [
  ["a disk that is one manifest of another architecture", launcher(), singleFact("disk", ARM64), "amd64,s390x"],
  ["a disk that is an artifact", launcher(), NO_IMAGE, "amd64,s390x"],
  ["a disk that is an index, of which nodes pull their own", launcher(), linux("disk", AMD64, ARM64), "amd64"],
  [
    "a disk that cannot be read",
    launcher(),
    make.failedImage("disk", { kind: "transient", reason: "Timeout" }),
    "failed",
  ],
  ["a guest of its node's own architecture", launcher({ nodeSelector: {} }), singleFact("disk", ARM64), ""],
  ["a pod that is no virtual machine", launcher({}, {}), singleFact("disk", ARM64), ""],
  [
    "a disk whose image the launcher runs as well",
    launcher({ containers: [{ ...make.container("disk"), name: "compute" }] }),
    singleFact("disk", ARM64),
    "",
  ],
];

for (const [name, pod, disk, expected] of MACHINES) {
  Deno.test(`Q-05 judgeImages() of a virtual machine and ${name} shares [${expected}]`, () => {
    for (const view of [pod, reduceToImages(pod, imagesToInspect(pod, make.settings()))]) {
      const judgement = judge(view, { images: [LAUNCHER, disk] });
      assert.equal(judgement.kind === "shared" ? judgement.architectures.join() : judgement.kind, expected);
    }
  });
}
