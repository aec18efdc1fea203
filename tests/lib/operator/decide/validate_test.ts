import assert from "node:assert/strict";
import {
  type NamespaceConfigFacts,
  validateClusterConfig,
  validateNamespaceConfig,
} from "../../../../lib/operator/decide/validate.ts";
import type { AdmissionWrite, Validation } from "../../../../lib/vocabulary/admission.ts";

const FACTS: NamespaceConfigFacts = { clusterConfig: "present", siblings: [] };

function scoring(enabled: boolean, ...architectures: readonly string[]): AdmissionWrite {
  const platforms = architectures.map((architecture) => ({ architecture, weight: 50 }));
  return makeWrite({ plugins: { nodeAffinityScoring: { enabled, platforms } } });
}

function makeWrite(spec: Readonly<Record<string, unknown>>, overrides: Partial<AdmissionWrite> = {}): AdmissionWrite {
  return {
    operation: "CREATE",
    namespace: "team",
    name: "mine",
    object: { metadata: { name: "mine" }, spec: { plugins: {}, ...spec } },
    oldObject: undefined,
    ...overrides,
  };
}

function wordOf(validation: Validation): string {
  return validation.kind === "allow" ? "allow" : `${validation.code} ${validation.message}`;
}

function update(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): AdmissionWrite {
  return makeWrite(after, { operation: "UPDATE", oldObject: makeWrite(before).object });
}

const DELETION = makeWrite({}, { operation: "DELETE" });
const ARM32 = { fallbackArchitecture: "arm32" };
const ABSENT = { clusterConfig: "absent" } as const;
const NAMESPACE_ROWS: readonly (readonly [string, AdmissionWrite, Partial<NamespaceConfigFacts>, RegExp])[] = [
  [
    "124 205 223 refuses when there is no cluster config",
    makeWrite({}),
    ABSENT,
    /^400 .*does not exist: create it first/,
  ],
  ["refuses when the cluster config is leaving", makeWrite({}), { clusterConfig: "deleting" }, /^400 .*being deleted/],
  ["128 allows when the cluster config is there", makeWrite({ priority: 50 }), {}, /^allow$/],
  [
    "136 211 PC-07 EP-01 refuses an architecture that comes twice",
    scoring(true, "amd64", "amd64"),
    {},
    /^403 duplicate architecture "amd64" found in nodeAffinityScoring\.platforms$/,
  ],
  ["DV-130 223 allows doubles while scoring is off", scoring(false, "amd64", "amd64"), {}, /^allow$/],
  ["137 212 PC-08 EP-02 refuses a priority that is taken and prints it as a number", makeWrite({ priority: 50 }), {
    siblings: [{ name: "test-ppc", priority: 50 }],
  }, /^403 priority 50 already used by "test-ppc"$/],
  [
    "DV-132 223 counts an absent priority as 0",
    makeWrite({}),
    { siblings: [{ name: "first", priority: 0 }] },
    /^403 priority 0 already used by "first"$/,
  ],
  ["138 213 PC-09 EP-03 refuses an update to a priority that is taken", update({ priority: 30 }, { priority: 50 }), {
    siblings: [{ name: "mine", priority: 30 }, { name: "test-ppc-2", priority: 50 }],
  }, /^403 priority 50 already used by "test-ppc-2"$/],
  ["139 214 PC-10 EP-04 allows a priority whose holder went", makeWrite({ priority: 50 }), {}, /^allow$/],
  [
    "DV-133 allows an update that keeps its priority although another has it",
    update({ priority: 50 }, { priority: 50, labelSelector: {} }),
    { siblings: [{ name: "racy", priority: 50 }] },
    /^allow$/,
  ],
  [
    "DV-134 refuses a change of the spec when there is no cluster config",
    update({ priority: 1 }, { priority: 2 }),
    ABSENT,
    /^400 /,
  ],
  ["allows a change of metadata without a cluster config", update({ priority: 1 }, { priority: 1 }), ABSENT, /^allow$/],
  ["DV-135 223 allows deletion when there is no cluster config", DELETION, ABSENT, /^allow$/],
  [
    "DV-139 refuses a label selector that can select nothing",
    makeWrite({ labelSelector: { matchLabels: { "bad key": "x" } } }),
    {},
    /^403 Cannot use spec\.labelSelector: .*"bad key" is not a label key/,
  ],
];
for (const [title, write, facts, expected] of NAMESPACE_ROWS) {
  Deno.test(`${title.replace(/^((?:(?:DV|PC|EP)-\d+|B\d+|\d+) )*/, "$&validateNamespaceConfig() ")}`, () => {
    assert.match(wordOf(validateNamespaceConfig(write, { ...FACTS, ...facts })), expected);
  });
}

Deno.test("validateNamespaceConfig() warns about doubles while scoring is off", () => {
  const validation = validateNamespaceConfig(scoring(false, "arm64", "arm64"), FACTS);
  assert.equal(validation.kind === "allow" && validation.warnings.length, 1);
});

const CLUSTER_ROWS: readonly (readonly [string, AdmissionWrite, RegExp])[] = [
  ["allows an empty spec", makeWrite({}), /^allow$/],
  [
    "186 refuses an architecture that comes twice",
    scoring(true, "amd64", "amd64"),
    /^403 duplicate architecture "amd64" found in \.spec\.plugins\.nodeAffinityScoring\.platforms$/,
  ],
  ["224 refuses doubles even while scoring is off", scoring(false, "amd64", "amd64"), /^403 /],
  [
    "100 refuses a weight that came through v1alpha1 past the schema",
    makeWrite({
      plugins: { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "amd64", weight: -100 }] } },
    }),
    /^403 Cannot use \{"architecture":"amd64","weight":-100\}/,
  ],
  ["104 refuses scoring without platforms", scoring(true), /^403 .*names no platforms/],
  ["106 allows a known fallback", makeWrite({ fallbackArchitecture: "s390x" }), /^allow$/],
  ["refuses an unknown fallback that came through v1alpha1", makeWrite({ fallbackArchitecture: "AMD64" }), /^403 /],
  [
    "refuses a fallback annotation that names no architecture",
    makeWrite({}, {
      object: { metadata: { annotations: { "multiarch.openshift.io/fallback-architecture": "arm32" } }, spec: {} },
    }),
    /^403 .*"arm32" as annotation/,
  ],
  [
    "refuses a namespace selector the API server would not take",
    makeWrite({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "Near" }] } }),
    /^403 Cannot use spec\.namespaceSelector/,
  ],
  ["allows an update that leaves a faulty spec as it was", update(ARM32, ARM32), /^allow$/],
  ["224 127 allows deletion when no namespace config exists", DELETION, /^allow$/],
];
for (const [title, write, expected] of CLUSTER_ROWS) {
  Deno.test(`${title.replace(/^(\d+ )*/, "$&validateClusterConfig() ")}`, () => {
    assert.match(wordOf(validateClusterConfig(write, [])), expected);
  });
}

Deno.test("125 206 validateClusterConfig() refuses deletion while namespace configs exist and names some", () => {
  const left = ["a", "b", "c", "d", "e", "f"].map((name) => ({ namespace: "team", name }));
  const validation = wordOf(validateClusterConfig(DELETION, left));
  assert.match(
    validation,
    /^403 .*local PodPlacementConfigs still exist \(team\/a, team\/b, team\/c, team\/d, team\/e, …\)/,
  );
});

Deno.test("validateNamespaceConfig() looks once at each platform, however many there are", () => {
  const platforms = Array.from({ length: 200_000 }, (_, index) => ({ architecture: `arch-${index}`, weight: 1 }));
  const nodeAffinityScoring = { enabled: true, platforms: [...platforms, { architecture: "arch-7", weight: 1 }] };
  const startedMs = performance.now();
  const validation = validateNamespaceConfig(makeWrite({ plugins: { nodeAffinityScoring } }), FACTS);
  assert.match(wordOf(validation), /duplicate architecture "arch-7"/);
  // Comparing each with each would take minutes.
  assert.ok(performance.now() - startedMs < 20_000);
});
