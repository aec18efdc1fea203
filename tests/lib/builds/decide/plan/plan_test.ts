import assert from "node:assert/strict";
import fc from "fast-check";
import { buildInputs, buildKeyOf } from "../../../../../lib/builds/decide/plan/build_keys.ts";
import { mcoBuildName } from "../../../../../lib/builds/decide/plan/mco_build_name.ts";
import { renderContainerfile } from "../../../../../lib/builds/decide/plan/containerfile.ts";
import { McoAnnotation } from "../../../../../lib/builds/decide/names.ts";
import { parseDigestMap } from "../../../../../lib/builds/decide/parse/job.ts";
import { planBuild, type PlanInput } from "../../../../../lib/builds/decide/plan/plan.ts";
import { isRecordable } from "../../../../../lib/builds/decide/job/preflight.ts";
import { cutReference } from "../../../../../lib/oci/reference.ts";
import { preBuiltImage } from "../../../../../lib/builds/decide/reconcile/create_build.ts";
import type { ArchitectureSet, BuildPlan } from "../../../../../lib/builds/decide/types.ts";
import {
  configOf,
  NO_ARCH,
  ownName,
  type PlanGiven,
  planInput,
  planOf,
  poolObject,
  type RawConfig,
  type RawRendered,
  rawRendered,
  renderedOf,
} from "../make.ts";
import { parseRenderedConfig } from "../../../../../lib/builds/decide/parse/machine_config.ts";

const BOTH: ArchitectureSet = ["amd64", "arm64"];
const ARM64 = { containerfileArch: "ARM64", content: "FROM configs\nRUN arm\n" };
const AMD64 = { containerfileArch: "AMD64", content: "FROM configs\nRUN amd\n" };

function keys(given: PlanGiven = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(planOf(given).builds.map(({ arch, buildKey }) => [arch, buildKey]));
}

/** Architectures whose key changes, and whether the name of the build does. */
type Change = readonly [name: string, keys: ArchitectureSet, renames: boolean, after: PlanGiven, before?: PlanGiven];

const texts = (...files: NonNullable<RawConfig["files"]>): PlanGiven => ({ config: { files } });
const renders = (rendered: RawRendered): PlanGiven => ({ rendered });
const DOS = { ...NO_ARCH, content: NO_ARCH.content.replaceAll("\n", "\r\n") };
const [OTHER, OTHER_ARM64] = [{ ...NO_ARCH, content: "FROM x\n" }, { ...ARM64, content: "FROM configs\n" }];
const CHANGES: readonly Change[] = [
  ["P-020 containerfiles in another order", [], false, texts(AMD64, ARM64, NO_ARCH), texts(NO_ARCH, ARM64, AMD64)],
  ["P-021 architectures in another order", [], false, { set: ["amd64", "arm64"] }],
  [
    "P-022 extensions in another order",
    ...[[], false] as const,
    renders({ extensions: ["usbguard", "wasm", "wasm"] }),
    renders({ extensions: ["wasm", "usbguard"] }),
  ],
  [
    "P-022 kernel arguments in another order",
    ...[BOTH, true] as const,
    renders({ kernelArguments: ["b", "a"] }),
    renders({ kernelArguments: ["a", "b"] }),
  ],
  ["P-023 another text for arm64", ["arm64"], true, texts(NO_ARCH, OTHER_ARM64), texts(NO_ARCH, ARM64)],
  ["P-024 another text for all where amd64 has its own", ["arm64"], true, texts(OTHER, AMD64), texts(NO_ARCH, AMD64)],
  ["P-025 a text for arm64 that says the same", [], false, texts(NO_ARCH, { ...ARM64, content: NO_ARCH.content })],
  ["P-026 line ends of another system", [], false, texts(DOS)],
  ["P-027 other names of secrets", [], false, { config: { pushSecret: "other", pullSecret: "another" } }],
  ["P-028 another tag", [], false, { config: { pushSpec: "registry.test/org/os:other" } }],
  ["P-028 another repository", [], true, { config: { pushSpec: "registry.test/org/moved:latest" } }],
  ["P-029 a configuration that changes no image", [], true, {
    rendered: { name: "rendered-worker-2" },
    pool: poolObject({ rendered: "rendered-worker-2" }),
  }],
  ["P-030 another base image", ["amd64", "arm64"], true, { rendered: { osImageURL: "registry.test/base/os:2" } }],
  ["P-035 another version of the template", ["amd64", "arm64"], true, { template: 2 }],
  ["the usual kernel by its name", [], false, { rendered: { kernelType: "default" } }],
];

for (const [name, changed, renames, after, before = {}] of CHANGES) {
  const [, ids = "", words = name] = /^((?:P-\d+ )*)(.*)$/.exec(name) ?? [];
  Deno.test(`${ids}planBuild() with ${words}: ${changed.length} keys change, the name ${renames ? "too" : "stays"}`, () => {
    const [old, next] = [keys(before), keys(after)];
    assert.deepEqual(Object.keys(old).filter((arch) => old[arch] !== next[arch]), changed);
    assert.equal(planOf(before).name !== planOf(after).name, renames);
  });
}

Deno.test("P-020 P-021 P-022 P-027 P-036 planBuild() depends on no order and no name of a secret", () => {
  const shuffled = <T>(all: readonly T[]): fc.Arbitrary<T[]> =>
    fc.shuffledSubarray([...all], { minLength: all.length, maxLength: all.length });
  const all: ArchitectureSet = ["amd64", "arm64", "ppc64le", "s390x"];
  const files = [NO_ARCH, ARM64, AMD64, { containerfileArch: "S390X", content: "FROM z\n" }];
  const extensions = ["wasm", "usbguard", "kerberos"];
  const usual = planOf({ set: all, config: { files }, rendered: { extensions } });
  fc.assert(
    fc.property(shuffled(files), shuffled(extensions), fc.constantFrom("a", "b"), (files, extensions, secret) => {
      const config = { files, pushSecret: secret, pullSecret: `${secret}-pull` };
      const other = planOf({ set: all, config, rendered: { extensions } });
      assert.equal(other.name, usual.name);
      assert.deepEqual(other.builds, usual.builds);
    }),
    { numRuns: 50 },
  );
});

Deno.test("P-031 planBuild() says that a text for an absent architecture is not used, and its key has nothing of it", () => {
  const given = { config: { files: [NO_ARCH, { containerfileArch: "S390X", content: "FROM z\n" }] } };
  assert.match(planOf(given).infos.join(), /^The containerfile for s390x is not used/);
  assert.deepEqual(planOf(given).builds, planOf().builds);
});

Deno.test("P-033 planBuild() refuses names that leave no room, before anything is made", () => {
  const named = (length: number, set: ArchitectureSet): string => {
    const name = "n".repeat(length);
    const planned = planBuild(planInput({ config: { name, pool: name }, pool: poolObject({ name }), set }));
    return planned.kind === "error" ? planned.reason : planned.mode;
  };
  assert.deepEqual([named(30, BOTH), named(31, BOTH)], ["index", "NameTooLong"]);
  assert.deepEqual([named(24, ["arm64"]), named(25, ["arm64"])], ["single", "NameTooLong"]);
});

Deno.test("P-034 every name fits: names of objects and labels in 63 characters, tags in 128", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,23}$/);
  const sets = fc.constantFrom<ArchitectureSet>(["s390x"], BOTH, ["amd64", "arm64", "ppc64le", "s390x"]);
  fc.assert(
    fc.property(name, sets, fc.string(), (name, set, content) => {
      const files = [{ content }];
      const planned = planOf({ config: { name, pool: name, files }, pool: poolObject({ name }), set });
      for (
        const { jobName, digestConfigMapName, containerfileConfigMapName, tag } of planned.builds
      ) {
        for (const object of [planned.name, jobName, digestConfigMapName]) {
          assert.match(object, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
        }
        assert.match(containerfileConfigMapName, /^[a-z][-a-z0-9]{0,251}$/);
        assert.match(tag, /^[a-z0-9][-a-z0-9]{0,127}$/);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("P-035 P-036 buildKeyOf() gives fixed keys for fixed inputs, in every process", () => {
  const rendered = renderedOf({ extensions: ["usbguard"] });
  const inputs = buildInputs("arm64", { config: configOf(), pool: poolObject(), rendered, template: 1 });
  assert.equal(buildKeyOf(inputs), GOLDEN_KEY);
});

const GOLDEN_KEY = "c957a7492661f5e806e5ae11cce2a8844a890a84e005e0f2ea7886bafc82180d";

Deno.test("planBuild() of two clusters has no image in common, although all else is equal", () => {
  const namesOf = ({ name, builds }: BuildPlan): readonly string[] => [name, ...builds.map(({ tag }) => tag)];
  const [own, other] = [planOf(), planOf({ pool: { ...poolObject(), uid: "uid-of-another-cluster" } })].map(namesOf);
  assert.deepEqual(own?.filter((name) => other?.includes(name)), []);
});

Deno.test("O-020 O-021 planBuild() refuses what is missing, and a pool of another name", () => {
  const reason = (given: Partial<PlanInput>): string => {
    const planned = planBuild({ ...planInput(), ...given });
    return planned.kind === "error" ? planned.reason : planned.kind;
  };
  assert.equal(reason({ pool: undefined }), "PoolNotFound");
  assert.equal(reason({ rendered: undefined }), "NotRendered");
  assert.equal(reason({ pool: poolObject({ name: "other" }) }), "PoolMismatch");
  assert.equal(reason({ set: [] }), "NoArchitecture");
  const plain = rawRendered();
  const bare = { ...plain, metadata: { ...plain.metadata, annotations: {} } };
  assert.equal(reason({ rendered: parseRenderedConfig(bare) }), "NotRendered");
});

Deno.test("renderContainerfile() installs Open vSwitch's ipsec where the release has it as a package", () => {
  const textOf = (version: string): string => {
    const given = renderedOf({ extensions: ["ipsec"], extensionsImage: "registry.test/base/extensions:1" });
    const rendered = { ...given, meta: { ...given.meta, annotations: { [McoAnnotation.releaseVersion]: version } } };
    return renderContainerfile({ rendered, pool: "worker", userText: undefined });
  };
  for (const version of ["4.17.0", "4.22.9", ""]) assert.doesNotMatch(textOf(version), /openvswitch/, version);
  for (const version of ["4.23.0-rc.1", "5.0.0"]) assert.match(textOf(version), / libreswan openvswitch3\.5-ipsec /);
});

/** The inputs with which the machine config operator's own test has a fixed name. */
const FIXTURE = {
  config: configOf({ pushSpec: "registry.hostname.com/org/repo:latest", pushSecret: "", files: [] }),
  pool: { configuration: {} },
  rendered: {
    meta: {
      ...renderedOf().meta,
      annotations: { "machineconfiguration.openshift.io/release-image-version": "release-version" },
    },
    osImageURL:
      "registry.hostname.com/org/repo@sha256 string = 220a60ecd4a3c32c282622a625a54db9ba0ff55b5ba9c29c7064a2bc358b6a3e",
    extensionsImage:
      "registry.hostname.com/org/repo@sha256 string = 5fb4ba1a651bae8057ec6b5cdafc93fa7e0b7d944d6f02a4b751de4e15464def",
  },
};

Deno.test("O-022 mcoBuildName() gives the name that the machine config operator gives", () => {
  assert.equal(mcoBuildName(FIXTURE), "worker-699e6be74658adcb3ff2b48f32cd1584");
});

Deno.test("O-022 planBuild() keeps the operator's names for one architecture: build, tag, Job and ConfigMaps", () => {
  const planned = planOf({ set: ["amd64"] });
  assert.equal(planned.mode, "single");
  assert.equal(planned.name, ownName());
  const [{ jobName, digestConfigMapName, containerfileConfigMapName, tag } = assert.fail("no build")] = planned.builds;
  const name = planned.name;
  const names = [`build-${name}`, `digest-${name}`, `containerfile-${name}`, name];
  assert.deepEqual([jobName, digestConfigMapName, containerfileConfigMapName, tag], names);
});

Deno.test("O-023 a paused pool keeps the name of the build", () => {
  for (const set of [["amd64"], BOTH] as const) {
    assert.equal(planOf({ set, pool: poolObject({ paused: true }) }).name, planOf({ set }).name);
  }
});

Deno.test("alwaysIndex plans an index of one architecture", () => {
  assert.equal(planOf({ set: ["arm64"], alwaysIndex: true }).mode, "index");
});

Deno.test("O-033 preBuiltImage() takes a reference by its digest, and no other", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const named = (reference: string): string | undefined =>
    preBuiltImage(configOf({ annotations: { [McoAnnotation.preBuiltImage]: reference } }));
  assert.equal(named(`registry.test:5000/org/os@${digest}`), `registry.test:5000/org/os@${digest}`);
  for (const other of ["registry.test/org/os:latest", "registry.test/org/os@sha256:abc", "registry.test/org/os", ""]) {
    assert.equal(named(other), undefined, other);
  }
});

Deno.test("O-039 an image is recorded by its repository, without the push spec's tag, and its digest; what is no digest is none", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const recorded = (pushSpec: string, value: string): string => {
    const left = parseDigestMap({ metadata: { name: "digest" }, data: { digest: value } }).digest;
    return left === "" ? "" : `${cutReference(pushSpec).name}@${left}`;
  };
  assert.equal(recorded("registry.test:5000/org/os:latest", digest), `registry.test:5000/org/os@${digest}`);
  assert.equal(recorded("registry.test:5000/org/os", digest), `registry.test:5000/org/os@${digest}`);
  assert.equal(recorded("registry.test/org/os:latest", "sha256:abc"), "");
});

Deno.test("P-037 isRecordable() allows one part before the last name", () => {
  for (const good of ["registry.test/os", "registry.test:5000/org/os", "a.b.svc:5000/org/os"]) {
    assert.ok(isRecordable(good), good);
  }
  for (const bad of ["registry.test/a/b/os", "localhost/os", "registry.test/a/b/c/os"]) {
    assert.ok(!isRecordable(bad), bad);
  }
});
