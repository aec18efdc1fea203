import assert from "node:assert/strict";
import { graphQueryOf } from "../../../../../lib/upgrades/decide/release/graph.ts";
import {
  type PlanValidation,
  releaseImageProblem,
  validatePlan,
  validationReads,
} from "../../../../../lib/upgrades/decide/release/validate.ts";
import {
  currentVersionOf,
  decideRequest,
  isCommenced,
  isCompleted,
  precedingVersionOf,
  type ReleaseRequest,
} from "../../../../../lib/upgrades/decide/release/target.ts";
import { compareVersions, orderOf, parseVersion } from "../../../../../lib/upgrades/decide/release/version.ts";
import type { ClusterVersion } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import type { Observed, UpgradeFacts } from "../../../../../lib/upgrades/decide/types/observed.ts";
import type { DesiredRelease } from "../../../../../lib/upgrades/decide/types/plan.ts";
import {
  commencedCluster,
  FROM,
  IMAGE_FROM,
  IMAGE_TO,
  makeCluster,
  makeConfig,
  makePlan,
  makeSpec,
  migratingCluster,
  seen,
  type SpecOverrides,
  TO,
  unseen,
  upgradedCluster,
} from "../make_plan.ts";

function target(overrides: Partial<DesiredRelease> = {}): DesiredRelease {
  return makeSpec({ desired: overrides }).desired;
}

function version(text: string): NonNullable<ReturnType<typeof parseVersion>> {
  return parseVersion(text) ?? assert.fail(text);
}

const MULTI = { version: FROM, architecture: "Multi" } as const;
const MULTI_ASKED = { version: FROM, image: "", architecture: "Multi" };
const MULTI_CLUSTER = migratingCluster("Completed");

Deno.test("compareVersions() ranks versions as Semantic Versioning does", () => {
  const before = ["0", "alpha", "alpha.1", "alpha.beta", "beta", "beta.2", "beta.11", "rc.1"];
  const texts = [...before.map((text) => `1.0.0-${text}`), "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"];
  const ascending = texts.map(version);
  for (const [index, left] of ascending.entries()) {
    for (const [other, right] of ascending.entries()) {
      assert.equal(Math.sign(compareVersions(left, right)), Math.sign(index - other), `${index} ${other}`);
    }
  }
  assert.equal(compareVersions(version("1.0.0+a"), version("1.0.0+b")), 0);
  for (const text of ["", "4", "4.1", "v4.1.0", "4.01.0", "4.1.0-01", "4.1.0-", "4.1.0.0"]) {
    assert.equal(parseVersion(text), undefined, text);
  }
});

const ORDERS: readonly (readonly [string, string, string, string])[] = [
  ["M-117 an older version is a downgrade", "4.17.0", FROM, "downgrade"],
  ["M-118 the same version is equal", FROM, FROM, "equal"],
  ["M-119 a newer version is an upgrade", "4.18.0", FROM, "upgrade"],
];

for (const [name, wanted, current, order] of ORDERS) {
  Deno.test(name, () => assert.equal(orderOf(version(wanted), version(current)), order));
}

const COMMENCED: readonly (readonly [string, Partial<DesiredRelease>, ClusterVersion, boolean])[] = [
  ["M-131 the version that was asked for", {}, commencedCluster(), true],
  ["M-140 the image that was asked for", { image: IMAGE_TO }, asked({ image: IMAGE_TO }), true],
  ["N-006 the version was asked for, the plan wants several architectures", MULTI, asked({ version: FROM }), false],
  ["a migration that was asked for", MULTI, asked(MULTI_ASKED), true],
  ["a migration was asked for, the plan wants the version alone", { version: FROM }, asked(MULTI_ASKED), false],
  ["a later version on a cluster of several architectures", {}, {
    ...MULTI_CLUSTER,
    desiredUpdate: { ...MULTI_ASKED, version: TO },
  }, true],
];

function asked(desiredUpdate: Partial<NonNullable<ClusterVersion["desiredUpdate"]>>): ClusterVersion {
  return makeCluster({ desiredUpdate: { version: "", image: "", architecture: "", ...desiredUpdate } });
}

for (const [name, overrides, cv, expected] of COMMENCED) {
  Deno.test(`${name}: ${expected ? "asked" : "not asked"}`, () =>
    assert.equal(isCommenced(target(overrides), cv), expected));
}

Deno.test("isCompleted() wants of a migration the architecture as well", () => {
  assert.equal(isCompleted(target(MULTI), makeCluster()), false);
  assert.equal(isCompleted(target(MULTI), MULTI_CLUSTER), true);
});

const older = { version: "4.16.9", image: "i", state: "Completed", startedMs: 0, completedMs: 1 } as const;
const PRECEDING: readonly (readonly [string, Partial<ClusterVersion>, string])[] = [
  ["M-141 the cluster is at another version", {}, FROM],
  ["M-142 the cluster is at the version, without history", { desired: release(TO), history: [] }, TO],
  ["M-143 the cluster is at the version, with an earlier one", {
    desired: release(TO),
    history: [{ ...older, version: TO }, older],
  }, "4.16.9"],
  ["M-144 the cluster is at the version, nothing earlier was completed", {
    desired: release(TO),
    history: [{ ...older, state: "Partial" }],
  }, TO],
];

function release(text: string): ClusterVersion["desired"] {
  return { version: text, image: "", architecture: "" };
}

for (const [name, overrides, expected] of PRECEDING) {
  Deno.test(`${name}: preceding is ${expected}`, () => {
    assert.equal(precedingVersionOf(target(), makeCluster(overrides)), expected);
  });
}

Deno.test("currentVersionOf() is what was completed last", () => {
  const cv = makeCluster({
    history: [{ ...older, state: "Partial", version: TO }, older, { ...older, version: FROM, completedMs: 9 }],
  });
  assert.equal(currentVersionOf(cv), FROM);
});

function patched(desiredUpdate: unknown): ReleaseRequest {
  return { kind: "release", patch: { spec: { desiredUpdate } } };
}

const byVersion = patched({ version: TO, image: null, architecture: null });
const byImage = patched({ image: IMAGE_TO, version: null, architecture: null });
const CONDITIONAL = makeCluster({ availableUpdates: [], conditionalUpdates: [{ version: TO, image: IMAGE_TO }] });
const OTHER_CHANNEL = { kind: "channel", patch: { spec: { channel: "stable-4.18" } } } as const;
const REQUESTS: readonly (readonly [string, Partial<DesiredRelease>, ClusterVersion, ReleaseRequest])[] = [
  [
    "M-132 a conditional update is asked for with its image",
    {},
    CONDITIONAL,
    patched({ version: TO, image: IMAGE_TO, architecture: null }),
  ],
  ["M-133 another channel is set first", { channel: "stable-4.18" }, makeCluster(), OTHER_CHANNEL],
  ["M-134 nothing was asked for", {}, makeCluster(), byVersion],
  ["M-135 another version was asked for", {}, asked({ version: "4.17.9" }), byVersion],
  ["M-138 an image, nothing was asked for", { image: IMAGE_TO }, makeCluster(), byImage],
  ["M-139 an image, another was asked for", { image: IMAGE_TO }, asked({ image: IMAGE_FROM }), byImage],
  ["M-201 what was asked for is not asked for again", {}, commencedCluster(), { kind: "asked" }],
  ["an update without image is not offered yet", {}, makeCluster({ availableUpdates: [{ version: TO, image: "" }] }), {
    kind: "notOffered",
    message: `version ${TO} is not among the updates of the ClusterVersion yet`,
  }],
  [
    "an update that is not offered, while the ClusterVersion is on its way to another version",
    {},
    makeCluster({
      availableUpdates: [],
      history: [{ version: "4.17.9", image: "c", state: "Partial", startedMs: 1, completedMs: undefined }],
    }),
    {
      kind: "notOffered",
      message: `version ${TO} is not among the updates of the ClusterVersion yet, which is on its way to 4.17.9`,
    },
  ],
];

for (const [name, overrides, cv, expected] of REQUESTS) {
  Deno.test(name, () => assert.deepEqual(decideRequest(target(overrides), cv), expected));
}

Deno.test("M-120 M-121 N-025 graphQueryOf() asks the graph of the cluster, and under multi for several architectures", () => {
  const ask = (cv: ClusterVersion, desired = target()): readonly string[] => {
    const { upstream, channel, version: from, architecture } = graphQueryOf(cv, { desired, controlPlane: "arm64" });
    return [upstream, channel, from, architecture];
  };
  assert.deepEqual(ask(makeCluster({ upstream: "https://graph.example.com/" })), [
    "https://graph.example.com/",
    "stable-4.17",
    FROM,
    "arm64",
  ]);
  const standard = "https://api.openshift.com/api/upgrades_info/v1/graph";
  assert.deepEqual(ask(MULTI_CLUSTER), [standard, "stable-4.17", FROM, "multi"]);
  assert.deepEqual(ask(makeCluster(), target({ ...MULTI, channel: "" })), [standard, "stable-4.17", FROM, "multi"]);
});

Deno.test("M-122 releaseImageProblem() takes images with registry, namespace, name and digest", () => {
  const images = [IMAGE_TO, `localhost:5000/a/b@sha256:${"a".repeat(64)}`, `r.io/a/b/c-d_e@sha512:${"a".repeat(128)}`];
  for (const image of images) assert.equal(releaseImageProblem(image), undefined, image);
});

Deno.test("M-123 releaseImageProblem() says what an image lacks", () => {
  const digest = `@sha256:${"a".repeat(64)}`;
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["quay.io/a/b:4.17", /no digest/],
    [`quay.io/a/b@sha256:abc`, /malformed digest/],
    [`quay.io/a/b${digest}${digest}`, /malformed digest/],
    [`a/b/c${digest}`, /no registry/],
    [`quay.io/b${digest}`, /namespace or a name/],
    [`quay.io/a/B${digest}`, /namespace or a name/],
    [digest, /no registry/],
  ];
  for (const [image, problem] of wrong) assert.match(releaseImageProblem(image) ?? "fine", problem, image);
});

interface Case {
  readonly spec?: SpecOverrides;
  readonly cv?: ClusterVersion;
  readonly read?: Observed["read"];
  readonly cincinnati?: boolean;
}

function validate({ spec = {}, cv = makeCluster(), read = {}, cincinnati = false }: Case): PlanValidation {
  const facts: UpgradeFacts = {
    plan: makePlan(spec),
    config: makeConfig({ validation: { cincinnati } }),
    clusterVersion: cv,
  };
  return validatePlan({ ...facts, read });
}

function wordOf(validation: PlanValidation): string {
  switch (validation.kind) {
    case "invalid":
      return `invalid: ${validation.message}`;
    case "nothingToDo":
      return `nothing to do: ${validation.message}`;
    case "adoptVersion":
      return `adopt ${validation.version}`;
    case "valid":
      return "valid";
  }
}

const CHANNEL = { spec: { desired: { version: "4.18.0", channel: "stable-4.18" } }, cincinnati: true } as const;
const PAYLOAD = { image: IMAGE_TO, version: TO, isIndex: true, architectures: ["amd64"] };
const READ: Case = { read: { payload: seen(PAYLOAD) } };
const to = (desired: Partial<DesiredRelease>): Case => ({ spec: { desired } });
const graph = (found: NonNullable<Observed["read"]["graph"]>): Case => ({ ...CHANNEL, read: { graph: found } });
const payload = (found: NonNullable<Observed["read"]["payload"]>): Case => ({
  ...to({ image: IMAGE_TO }),
  read: { payload: found },
});
const VALIDATIONS: readonly (readonly [string, Case, RegExp])[] = [
  ["M-110 a start that is no time", { spec: { upgradeAt: "2025-02-25 15:00" } }, /^invalid: spec\.upgradeAt/],
  ["M-112 a version among the available updates", {}, /^valid$/],
  ["M-113 a version among the conditional updates", { cv: CONDITIONAL }, /^valid$/],
  [
    "M-114 a version among neither",
    { cv: makeCluster({ availableUpdates: [] }) },
    /^invalid: version 4\.17\.2 not found in clusterversion available or conditional updates$/,
  ],
  ["M-115 a version that is none", to({ version: "latest" }), /^invalid: spec\.desired\.version "latest"/],
  [
    "M-116 a cluster whose version is none",
    { cv: makeCluster({ history: [{ ...older, version: "nightly" }] }) },
    /^invalid: the version of the cluster, "nightly"/,
  ],
  ["a cluster that has completed nothing", { cv: makeCluster({ history: [] }) }, /^invalid: .*no completed version/],
  ["an older version", to({ version: "4.17.0" }), /^invalid: .*downgrades are not supported/],
  ["an equal version", to({ version: FROM }), /^nothing to do: the cluster is at 4\.17\.1 already$/],
  ["M-124 a version in the graph of another channel", graph(seen([{ version: "4.18.0", image: "" }])), /^valid$/],
  ["M-125 a version that is not in the graph", graph(seen([])), /^invalid: .*no update.*stable-4\.18/],
  ["a graph that cannot be read", graph(unseen("503")), /^invalid: .*503/],
  ["another channel is not looked up unless wanted", { ...CHANNEL, cincinnati: false }, /^valid$/],
  ["M-128 neither version nor image", to({ version: "", channel: "" }), /^invalid: spec\.desired needs/],
  ["an image of the version", payload(seen(PAYLOAD)), /^valid$/],
  ["an image of another version", { ...to({ image: IMAGE_TO, version: "" }), ...READ }, /^adopt 4\.17\.2$/],
  ["an image that is no release", payload(seen({ ...PAYLOAD, version: "" })), /^invalid: .*no release/],
  ["an image that cannot be read", payload(unseen("401")), /^invalid: .*401/],
  ["an image without digest", to({ image: "quay.io/a/b:1" }), /^invalid: spec\.desired\.image has no digest/],
  ["the image that the cluster has", { ...payload(seen(PAYLOAD)), cv: upgradedCluster() }, /^nothing to do/],
  ["N-003 a migration at the current version", { spec: { desired: MULTI } }, /^valid$/],
  [
    "N-004 a migration that has been done",
    { spec: { desired: MULTI }, cv: MULTI_CLUSTER },
    /^nothing to do: .*several architectures already$/,
  ],
  [
    "N-005 a plan without architecture after a migration",
    { spec: { desired: { version: FROM } }, cv: MULTI_CLUSTER },
    /^nothing to do: .*its payload stays one for several architectures$/,
  ],
  ["a migration together with an upgrade", to({ architecture: "Multi" }), /^invalid: a migration keeps the version/],
];

for (const [name, given, expected] of VALIDATIONS) {
  Deno.test(`${name}: ${expected.source.split(":")[0]?.replaceAll(/[$^\\]/g, "")}`, () => {
    assert.match(wordOf(validate(given)), expected);
  });
}

Deno.test("validationReads() asks for an image or the graph only where they decide", () => {
  const reads = (spec: SpecOverrides, cincinnati = true): readonly string[] => {
    const config = makeConfig({ validation: { cincinnati } });
    return validationReads({ plan: makePlan(spec), config, clusterVersion: makeCluster() });
  };
  assert.deepEqual(reads({}), []);
  assert.deepEqual(reads(CHANNEL.spec), ["graph"]);
  assert.deepEqual(reads(CHANNEL.spec, false), []);
  assert.deepEqual(reads({ desired: { image: IMAGE_TO } }), ["payload"]);
  assert.deepEqual(reads({ desired: { image: "quay.io/a/b:1" } }), []);
});
