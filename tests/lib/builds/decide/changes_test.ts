// Which Jobs and publications follow which change: nothing is built or pushed needlessly.
import assert from "node:assert/strict";
import { Simulator } from "./simulator.ts";
import { NO_ARCH, type RawConfig, rawPool, type RawRendered, rawRendered } from "./make.ts";

const ARM64 = { containerfileArch: "ARM64", content: "FROM configs AS final\nRUN echo arm\n" };
const AMD64 = { containerfileArch: "AMD64", content: "FROM configs AS final\nRUN echo amd\n" };

/** A pool of amd64 and arm64 whose image is published. */
function published(config: RawConfig = {}, archs: readonly string[] = ["amd64", "arm64"]): Simulator {
  const bed = new Simulator(archs, config);
  bed.settle();
  assert.notEqual(bed.pullSpec(), "");
  bed.reset();
  return bed;
}

function render(bed: Simulator, given: RawRendered, name = "rendered-worker-2"): void {
  bed.rendered = rawRendered({ ...given, name });
  const { metadata, status } = bed.pool;
  bed.pool = { ...rawPool({ rendered: name }), metadata, status };
}

Deno.test("P-161 a new pool of two architectures gets one Job each and one index, which the pool is given", () => {
  const bed = new Simulator(["amd64", "arm64"]);
  bed.settle();
  assert.deepEqual(bed.made.toSorted(), ["amd64", "arm64"]);
  assert.equal(bed.published.length, 1);
  const { observedGeneration, machineOSBuild } = Object(bed.config.status);
  assert.deepEqual([observedGeneration, machineOSBuild.name], [1, bed.build().metadata.name]);
  assert.match(bed.pullSpec(), /^registry\.test\/org\/os@sha256:/);
});

interface Row {
  /** Rows of the catalogue besides P-080. */
  readonly ids?: string;
  readonly change: string;
  readonly given?: RawConfig;
  readonly make: (bed: Simulator) => void;
  readonly jobs: readonly string[];
  readonly index: "same" | "new" | "pushed again";
}

const ROWS: readonly Row[] = [
  {
    change: "the order of containerfiles",
    given: { files: [NO_ARCH, ARM64] },
    make: (bed) => bed.edit({ files: [ARM64, NO_ARCH] }),
    jobs: [],
    index: "same",
  },
  {
    change: "the text that both use",
    make: (bed) => bed.edit({ files: [{ ...NO_ARCH, content: "FROM configs AS final\nRUN echo other\n" }] }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "the text of arm64",
    given: { files: [NO_ARCH, ARM64] },
    make: (bed) => bed.edit({ files: [NO_ARCH, { ...ARM64, content: "FROM configs AS final\n" }] }),
    jobs: ["arm64"],
    index: "new",
  },
  {
    change: "a text for arm64 that says what was used before",
    make: (bed) => bed.edit({ files: [NO_ARCH, { ...ARM64, content: NO_ARCH.content }] }),
    jobs: [],
    index: "same",
  },
  {
    ids: "O-081 O-144 ",
    change: "a file of the configuration",
    make: (bed) => render(bed, {}),
    jobs: [],
    index: "same",
  },
  {
    change: "kernel arguments",
    make: (bed) => render(bed, { kernelArguments: ["nosmt"] }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "the kernel",
    make: (bed) => render(bed, { kernelType: "realtime" }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "extensions",
    make: (bed) => render(bed, { extensions: ["usbguard"] }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "the base image",
    make: (bed) => render(bed, { osImageURL: `registry.test/base/os@sha256:${"c".repeat(64)}` }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "names of secrets",
    make: (bed) => bed.edit({ pushSecret: "other-push", pullSecret: "other-pull" }),
    jobs: [],
    index: "same",
  },
  {
    change: "the repository",
    make: (bed) => bed.edit({ pushSpec: "registry.test/org/moved:latest" }),
    jobs: [],
    index: "pushed again",
  },
  {
    change: "the tag of the push spec",
    make: (bed) => bed.edit({ pushSpec: "registry.test/org/os:other" }),
    jobs: [],
    index: "same",
  },
  {
    change: "the last node of arm64 leaves",
    make: (bed) => (bed.nodes = bed.nodes.slice(0, 1)),
    jobs: [],
    index: "same",
  },
  {
    change: "the image of arm64 is deleted from the registry",
    make: (bed) => {
      const [arm] = [...bed.images].filter(([, image]) => image.architecture === "arm64");
      bed.images.delete(arm?.[0] ?? "");
    },
    jobs: ["arm64"],
    index: "new",
  },
  {
    change: "the rebuild annotation `all`",
    make: (bed) => bed.annotate({ "machineconfiguration.openshift.io/rebuild": "all" }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "an empty rebuild annotation after success",
    make: (bed) => bed.annotate({ "machineconfiguration.openshift.io/rebuild": "" }),
    jobs: ["amd64", "arm64"],
    index: "new",
  },
  {
    change: "the rebuild annotation `arm64`",
    make: (bed) => bed.annotate({ "machineconfiguration.openshift.io/rebuild": "arm64" }),
    jobs: ["arm64"],
    index: "new",
  },
  {
    change: "a text for an architecture that no node has",
    make: (bed) => bed.edit({ files: [NO_ARCH, { containerfileArch: "S390X", content: "FROM configs\n" }] }),
    jobs: [],
    index: "same",
  },
  {
    change: "a text for amd64 beside one for all",
    make: (bed) => bed.edit({ files: [NO_ARCH, AMD64] }),
    jobs: ["amd64"],
    index: "new",
  },
];

for (const { ids = "", change, given, make, jobs, index } of ROWS) {
  Deno.test(`${ids}P-080 decideBuild() after ${change}: Jobs [${jobs.join(", ")}], index ${index}`, () => {
    const bed = published(given);
    const before = bed.pullSpec();
    make(bed);
    bed.settle();
    assert.deepEqual(bed.made.toSorted(), jobs);
    // A build of another name has the index under its own tag as well, as the same bytes.
    const isRenamed = bed.builds.size > 1;
    assert.equal(bed.published.length, index === "same" && !isRenamed ? 0 : 1, bed.published.join());
    assert.equal(bed.pullSpec() === before, index === "same");
    // Nothing is left to do, and nothing is done twice.
    bed.reset();
    bed.settle();
    assert.equal(bed.writes, 0);
  });
}
