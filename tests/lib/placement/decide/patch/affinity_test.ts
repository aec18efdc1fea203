import assert from "node:assert/strict";
import {
  affinityOperations,
  architectureRequirement,
  NOWHERE_REQUIREMENT,
  plainAddition,
  requiredAddition,
} from "../../../../../lib/placement/decide/patch/affinity.ts";
import {
  AMD64,
  applied,
  ARCH,
  ARM64,
  at,
  type Json,
  make,
  NOWHERE,
  REQUIRED,
  requiredOf,
  type Row,
  rows,
  running,
  S390X,
  settle,
} from "../make.ts";

const BOTH = make.term([ARCH, AMD64, ARM64]);
const FOO = make.term(["foo", "bar"]);
const NO_ARCH = { matchExpressions: [{ key: NOWHERE, operator: "Exists" }] };
const [NULL, EMPTY] = [{ matchExpressions: null }, { matchExpressions: [] }];
const ON_AMD64 = make.term([ARCH, AMD64]);
const ZAZ = make.term(["z", "1"], ["a", "2"], ["z", "1"]);
const FOO_ON_BOTH = make.term(["foo", "bar"], [ARCH, AMD64, ARM64]);
const FIELDS = { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] };

function and(...terms: readonly Json[]): Json {
  return { matchExpressions: terms.flatMap(({ matchExpressions }) => matchExpressions) };
}

function merges(id: string, [given, architectures]: readonly [unknown, readonly string[]], expected: unknown): Row {
  const title = `affinityOperations() makes ${JSON.stringify(given)} ${JSON.stringify(expected)}`.slice(0, 160);
  return [id, title, () => {
    const raw = make.pod({ affinity: make.nodeAffinity(given) });
    const required = plainAddition(
      architectures.length === 0 ? NOWHERE_REQUIREMENT : architectureRequirement(architectures),
    );
    const operations = affinityOperations(make.view(raw), { required, preferred: [] });
    assert.deepEqual(requiredOf(applied(raw, operations)), expected);
  }];
}

function places(id: string, title: string, spec: Json, expected: unknown): Row {
  return [id, `decide() requires the architectures when ${title}`, () => {
    const { after, required } = settle(make.gatedPod(spec));
    assert.deepEqual(required, expected);
    assert.deepEqual(at(after, "spec", "nodeSelector"), spec.nodeSelector);
  }];
}

const APART = running("single-amd64", "single-arm64");

rows([
  merges("PM-27", [[], [AMD64, ARM64]], [BOTH]),
  merges("PM-28 (different: a filled empty term would match more, and is refused)", [[NULL], [AMD64]], [NULL]),
  merges("PM-29 (different: a filled empty term would match more, and is refused)", [[EMPTY], [ARM64]], [EMPTY]),
  merges("PM-30", [[FOO, make.term(["baz", "foo"])], [AMD64, ARM64]], [
    FOO_ON_BOTH,
    make.term(["baz", "foo"], [ARCH, AMD64, ARM64]),
  ]),
  merges("PM-31", [[make.term(["foo", "bar"], [ARCH, S390X]), make.term(["baz", "x"])], [AMD64, ARM64]], [
    make.term(["foo", "bar"], [ARCH, S390X]),
    make.term(["baz", "x"], [ARCH, AMD64, ARM64]),
  ]),
  places("PM-40", "affinity is null", { affinity: null }, [BOTH]),
  places("PM-41", "there is another nodeSelector", { nodeSelector: { foo: "bar" } }, [BOTH]),
  places("PM-43", "there is no affinity", {}, [BOTH]),
  places("PM-44", "affinity has no nodeAffinity", { affinity: {} }, [BOTH]),
  places("PM-45", "nodeAffinity has nothing required", { affinity: make.nodeAffinity() }, [BOTH]),
  places("PM-46", "one term is there", { affinity: make.nodeAffinity([FOO]) }, [FOO_ON_BOTH]),
  places("PM-49", "none is shared", APART, [NO_ARCH]),
  places(
    "DV-40",
    "none is shared and terms exist",
    { ...APART, affinity: make.nodeAffinity([FOO, FIELDS]) },
    [and(FOO, NO_ARCH), { ...FIELDS, ...NO_ARCH }],
  ),
  merges("DV-41", [[ON_AMD64, FOO], []], [and(ON_AMD64, NO_ARCH), and(FOO, NO_ARCH)]),
  places("DV-42", "a term has only matchFields", { affinity: make.nodeAffinity([FIELDS]) }, [{ ...FIELDS, ...BOTH }]),
  places("DV-43", "expressions exist", { affinity: make.nodeAffinity([ZAZ]) }, [and(ZAZ, BOTH)]),
  places("DV-44", "an empty term is among them", { affinity: make.nodeAffinity([{}, FOO]) }, [{}, FOO_ON_BOTH]),
]);

Deno.test("DV-44 decide() releases a pod whose only term is empty, and leaves the term alone", () => {
  const { after, required } = settle(make.gatedPod({ affinity: make.nodeAffinity([{}]) }));
  assert.deepEqual(required, [{}]);
  assert.deepEqual(at(after, "spec", "schedulingGates"), []);
});

Deno.test("PM-39 decide() requires the fallback architecture when there is no affinity", () => {
  const configs = make.configs(make.clusterConfig({ fallback: AMD64 }));
  const { required } = settle(make.gatedPod(running("broken")), { configs, gateAgeMs: 60_000 });
  assert.deepEqual(required, [ON_AMD64]);
});

Deno.test("PM-42 decide() leaves the required terms alone when the nodeSelector names the architecture", () => {
  const { after, required } = settle(make.gatedPod({ nodeSelector: { foo: "bar", [ARCH]: ARM64 } }));
  assert.equal(required, undefined);
  assert.deepEqual(at(after, "spec", "nodeSelector"), { foo: "bar", [ARCH]: ARM64 });
});

Deno.test("PM-47 decide() keeps pod affinity and preferred terms", () => {
  const podAffinity = { [REQUIRED]: [{ topologyKey: "zone", labelSelector: {} }] };
  const users = [make.preferredTerm(3, "foo", "bar")];
  const affinity = { podAffinity, ...make.nodeAffinity(undefined, users) };
  const { after, preferred, required } = settle(make.gatedPod({ affinity }));
  assert.deepEqual(at(after, "spec", "affinity", "podAffinity"), podAffinity);
  assert.deepEqual(preferred, users);
  assert.deepEqual(required, [BOTH]);
});

Deno.test("PM-48 decide() leaves the affinity alone when an image cannot be read", () => {
  const { after, marks } = settle(make.gatedPod(running("multi", "non-readable")));
  assert.equal(at(after, "spec", "affinity"), undefined);
  assert.equal(marks["image-inspect-error-count"], "1");
});

Deno.test("PM-50 decide() sets no architecture label when nothing is required", () => {
  const changes = { configs: make.configs(make.clusterConfig({ platforms: [{ architecture: ARM64, weight: 1 }] })) };
  const { marks } = settle(make.gatedPod({ nodeSelector: { [ARCH]: ARM64 } }), changes);
  const names = ["single-arch", "multi-arch", "no-supported-arch", AMD64, ARM64];
  assert.deepEqual(names.filter((name) => name in marks), []);
});

Deno.test("requiredAddition() pairs an architecture with its level label where the pod has no terms of its own", () => {
  const requirement = { key: "level", operator: "In", values: ["v3", "v4"] } as const;
  const variants = [{ architecture: AMD64, requirement }];
  const addition = requiredAddition({ kind: "in", architectures: [AMD64, ARM64], variants });
  assert.deepEqual(addition.newTerms, [make.term([ARCH, ARM64]), make.term([ARCH, AMD64], ["level", "v3", "v4"])]);
  assert.deepEqual(addition.expressions, [architectureRequirement([AMD64, ARM64])]);
});

Deno.test("requiredAddition() appends the level label to existing terms when the architecture is the only one", () => {
  const requirement = { key: "level", operator: "Exists", values: [] } as const;
  const variants = [{ architecture: AMD64, requirement }];
  const required = requiredAddition({ kind: "in", architectures: [AMD64], variants });
  const raw = make.pod({ affinity: make.nodeAffinity([FOO, FIELDS]) });
  const after = applied(raw, affinityOperations(make.view(raw), { required, preferred: [] }));
  const added = and(ON_AMD64, { matchExpressions: [{ key: "level", operator: "Exists" }] });
  assert.deepEqual(requiredOf(after), [and(FOO, added), { ...FIELDS, ...added }]);
});
