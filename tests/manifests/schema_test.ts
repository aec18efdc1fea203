import assert from "node:assert/strict";
import fc from "fast-check";
import { KNOWN_ARCHITECTURES } from "../../lib/arch.ts";
import { parseOperandConfig } from "../../lib/operator/decide/config_view.ts";
import { renderConditions } from "../../lib/operator/decide/conditions.ts";
import type { GatingStop } from "../../lib/operator/decide/gating_health.ts";
import { convertObject } from "../../lib/operator/decide/convert.ts";
import { CLUSTER_SELECTOR_BOUNDS, SELECTOR_BOUNDS } from "../../lib/vocabulary/label_selector.ts";
import { parseClusterConfig, parseNamespaceConfig } from "../../lib/placement/decide/config/config.ts";
import { findProblems, readDefinitions, readSchema, schemaAt, withDefaults } from "./support/openapi.ts";
import { CLUSTER_SPEC, disturbed, NAMESPACE_SPEC, SCHEMA_BOUNDS, selectorsAround } from "./support/samples.ts";

const GROUP = "multiarch.openshift.io";
const ALPHA = readSchema("ClusterPodPlacementConfig", "v1alpha1");
const BETA = readSchema("ClusterPodPlacementConfig", "v1beta1");
const LOCAL = readSchema("PodPlacementConfig", "v1beta1");

const clusterConfig = (spec: unknown): { readonly metadata: { readonly name: string } } => ({
  ...{ apiVersion: `${GROUP}/v1beta1`, kind: "ClusterPodPlacementConfig" },
  metadata: { name: "cluster" },
  ...(spec === undefined ? {} : { spec }),
});
const namespaceConfig = (spec: unknown): unknown => ({
  ...{ apiVersion: `${GROUP}/v1beta1`, kind: "PodPlacementConfig" },
  metadata: { name: "local", namespace: "here" },
  spec,
});

const KINDS = [
  ["ClusterPodPlacementConfig", BETA, clusterConfig, parseClusterConfig, CLUSTER_SPEC],
  ["PodPlacementConfig", LOCAL, namespaceConfig, parseNamespaceConfig, NAMESPACE_SPEC],
] as const;

for (const [kind, schema, make, parse, spec] of KINDS) {
  Deno.test(`${kind}: every right sample is accepted by schema and parser, every member read`, () => {
    fc.assert(fc.property(spec, (spec) => {
      assert.deepEqual(findProblems(schema, make(spec)), []);
      const parsed = parse(make(spec));
      assert.equal(parsed.kind, "parsed");
      if (parsed.kind !== "parsed") return;
      const { value } = parsed;
      const fallback = spec.fallbackArchitecture === "" ? undefined : spec.fallbackArchitecture;
      assert.equal(value.fallbackArchitecture, fallback);
      const hasPlatforms = JSON.stringify(spec.plugins ?? {}).includes('"platforms"');
      assert.equal(hasPlatforms, value.scoring.platforms.length > 0);
      if ("priority" in value) assert.equal(value.priority, spec.priority ?? 0);
      else assert.equal(value.logVerbosity, spec.logVerbosity ?? "Normal");
    }));
  });

  Deno.test(`${kind}: what the schema accepts, the parser does`, () => {
    fc.assert(
      fc.property(disturbed(spec), (spec) => {
        const problems = findProblems(schema, make(spec));
        const parsed = parse(make(spec));
        if (problems.length === 0) assert.equal(parsed.kind, "parsed", JSON.stringify(parsed));
      }),
      { numRuns: 1_000 },
    );
  });

  Deno.test(`${kind}: the parser's defaults are those of the schema`, () => {
    fc.assert(fc.property(spec, (spec) => {
      const plain = JSON.parse(JSON.stringify(make(spec)));
      assert.deepEqual(parse(withDefaults(schema, plain)), parse(plain));
    }));
  });
}

const PLATFORMS = (...platforms: readonly unknown[]): unknown => ({
  plugins: { nodeAffinityScoring: { enabled: true, platforms } },
});

/** What the schema refuses, and whether the parser, which must live with objects stored before, does as well. */
const REFUSED: readonly (readonly [row: string, spec: unknown, parser: "ok" | "invalid"])[] = [
  ["100 130 weight -100", PLATFORMS({ architecture: "amd64", weight: -100 }), "invalid"],
  ["101 131 weight 0", PLATFORMS({ architecture: "amd64", weight: 0 }), "invalid"],
  ["102 132 weight 200", PLATFORMS({ architecture: "amd64", weight: 200 }), "invalid"],
  ["103 133 architecture Wrong", PLATFORMS({ architecture: "Wrong", weight: 200 }), "invalid"],
  ["104 134 no platforms", PLATFORMS(), "ok"],
  ["105 135 architecture empty", PLATFORMS({ architecture: "", weight: 5 }), "invalid"],
  ["111 fallback wrong", { plugins: {}, fallbackArchitecture: "wrong" }, "ok"],
];

for (const [row, spec, verdict] of REFUSED) {
  Deno.test(`${row}: refused by both schemas, and the parsers say ${verdict}`, () => {
    for (const [_kind, schema, make, parse] of KINDS) {
      assert.notDeepEqual(findProblems(schema, make(spec)), []);
      assert.equal(parse(make(spec)).kind, verdict === "ok" ? "parsed" : "unparsable");
    }
  });
}

function labelSelectorOf(object: unknown): string {
  const parsed = parseNamespaceConfig(object);
  return parsed.kind === "parsed" ? parsed.value.labelSelector.kind : parsed.kind;
}

function namespaceSelectorOf(object: unknown): string {
  const parsed = parseClusterConfig(object);
  return parsed.kind === "parsed" ? parsed.value.namespaceSelector.kind : parsed.kind;
}

for (const [version, schema] of [["v1beta1", BETA] as const, ["v1alpha1", ALPHA] as const]) {
  Deno.test(`ClusterPodPlacementConfig ${version}: schema and parser bound the selector at the same sizes`, () => {
    const { within, beyond } = selectorsAround(CLUSTER_SELECTOR_BOUNDS);
    assert.deepEqual(findProblems(schema, clusterConfig({ namespaceSelector: within })), []);
    assert.equal(namespaceSelectorOf(clusterConfig({ namespaceSelector: within })), "requirements");
    for (const [tooMany, namespaceSelector] of beyond) {
      assert.equal(findProblems(schema, clusterConfig({ namespaceSelector })).length, 1, tooMany);
      assert.equal(namespaceSelectorOf(clusterConfig({ namespaceSelector })), "unparsable", tooMany);
    }
  });
}

Deno.test("PodPlacementConfig v1beta1: the schema bounds the selector, and the parser reads what larger ones it allowed before", () => {
  const make = (labelSelector: unknown): unknown => namespaceConfig({ plugins: {}, labelSelector });
  const { within, beyond } = selectorsAround(SCHEMA_BOUNDS);
  assert.deepEqual(findProblems(LOCAL, make(within)), []);
  for (const [tooMany, selector] of beyond) assert.equal(findProblems(LOCAL, make(selector)).length, 1, tooMany);
  const earlier = selectorsAround(SELECTOR_BOUNDS);
  assert.equal(labelSelectorOf(make(earlier.within)), "requirements");
  for (const [tooMany, selector] of earlier.beyond) {
    assert.equal(labelSelectorOf(make(selector)), "unparsable", tooMany);
  }
});

Deno.test("PodPlacementConfig v1beta1: the largest selector is small", () => {
  const [word, key] = ["x".repeat(63), `${"p".repeat(253)}/${"n".repeat(63)}`];
  const [labels, expressions, values] = [16, 8, 32].map((count) => Array.from({ length: count }, (_, at) => at));
  const labelSelector = {
    matchLabels: Object.fromEntries((labels ?? []).map((at) => [`${key.slice(0, -2)}${at + 10}`, word])),
    matchExpressions: expressions?.map(() => ({ key, operator: "NotIn", values: values?.map(() => word) })),
  };
  assert.deepEqual(findProblems(LOCAL, namespaceConfig({ plugins: {}, labelSelector })), []);
  assert.ok(JSON.stringify(labelSelector).length < 27_000);
});

Deno.test("schema and parsers bound the platforms of a config, of which a disabled one may name an architecture twice", () => {
  const platforms = (count: number): unknown =>
    PLATFORMS(...Array.from({ length: count }, () => ({ architecture: "arm64", weight: 1 })));
  const tooMany = [".spec.plugins.nodeAffinityScoring.platforms: too_big"];
  for (const [_kind, schema, make, parse] of KINDS) {
    assert.deepEqual(findProblems(schema, make(platforms(16))), []);
    assert.equal(parse(make(platforms(16))).kind, "parsed");
    assert.deepEqual(findProblems(schema, make(platforms(17))), tooMany);
    assert.equal(parse(make(platforms(17))).kind, "unparsable");
  }
});

Deno.test("every architecture enum is the list of known architectures", () => {
  const known = [...KNOWN_ARCHITECTURES].sort();
  for (const schema of [BETA, LOCAL]) {
    const platform = schemaAt(schema, "spec", "plugins", "nodeAffinityScoring", "platforms", "[]", "architecture");
    assert.deepEqual([...platform.enum ?? []].sort(), known);
    assert.deepEqual([...schemaAt(schema, "spec", "fallbackArchitecture").enum ?? []].sort(), ["", ...known]);
  }
});

Deno.test("both versions of the cluster config are singletons by schema", () => {
  for (const schema of [ALPHA, BETA]) {
    assert.deepEqual(findProblems(schema, { metadata: { name: "cluster" } }), []);
    assert.deepEqual(findProblems(schema, { metadata: { name: "other" } }), [".metadata.name: invalid_value"]);
  }
});

Deno.test("what v1beta1 says converts to what v1alpha1 accepts, and back to what v1beta1 accepts", () => {
  fc.assert(fc.property(CLUSTER_SPEC, (spec) => {
    const alpha = convertObject(clusterConfig(spec), `${GROUP}/v1alpha1`);
    assert.equal(alpha.kind, "ok");
    if (alpha.kind !== "ok") return;
    assert.deepEqual(findProblems(ALPHA, alpha.object), []);
    const beta = convertObject(alpha.object, `${GROUP}/v1beta1`);
    assert.equal(beta.kind, "ok");
    if (beta.kind === "ok") assert.deepEqual(findProblems(BETA, beta.object), []);
  }));
});

const GATING_STOPS: readonly GatingStop[] = ["ConfigUnread", "NoLeader", "LeaderSilent", "LeaderImpaired"];

const STATE = fc.record({
  ...{ controllerAvailable: fc.boolean(), controllerUpToDate: fc.boolean(), deleting: fc.boolean() },
  ...{ webhookAvailable: fc.boolean(), webhookUpToDate: fc.boolean(), webhookConfigured: fc.boolean() },
});

Deno.test("every condition that is written is accepted by the status schema of both versions", () => {
  const monitor = { kind: "no-image" } as const;
  const context = { earlier: [], generation: 3, nowMs: 1_800_000_000_000, gatedPods: 2, monitor };
  const waiting = fc.constantFrom("PodsStillGated" as const, "NoReplicaServes" as const, undefined);
  fc.assert(fc.property(STATE, waiting, fc.constantFrom(undefined, ...GATING_STOPS), (seen, waiting, gatingStopped) => {
    const conditions = renderConditions(seen, { ...context, waiting, gatingStopped, unlabelledNodes: ["virtual"] });
    const object = { ...clusterConfig(undefined), status: { conditions } };
    for (const schema of [ALPHA, BETA]) assert.deepEqual(findProblems(schema, object), []);
    const read = parseOperandConfig({ ...object, apiVersion: `${GROUP}/v1beta1`, kind: "ClusterPodPlacementConfig" });
    assert.deepEqual(read.conditions, conditions);
  }));
});

Deno.test("kinds, scopes, versions and printer columns", () => {
  const seen = readDefinitions().map(({ metadata, spec }) => JSON.parse(JSON.stringify({ name: metadata.name, spec })));
  const rows = seen.map(({ name, spec }) => [
    name,
    spec.scope,
    spec.conversion?.strategy ?? "None",
    ...spec.versions.map((version: { name: string; storage: boolean; additionalPrinterColumns?: { name: string }[] }) =>
      [
        version.name,
        version.storage ? "stored" : "served",
        ...(version.additionalPrinterColumns ?? []).map((column) => column.name),
      ].join(" ")
    ),
  ]);
  assert.deepEqual(rows, [
    [
      `clusterpodplacementconfigs.${GROUP}`,
      "Cluster",
      "Webhook",
      "v1alpha1 served",
      "v1beta1 stored Available Progressing Degraded Since Status",
    ],
    [`podplacementconfigs.${GROUP}`, "Namespaced", "None", "v1beta1 stored"],
    [`enoexecevents.${GROUP}`, "Namespaced", "None", "v1beta1 stored NodeName PodName PodNamespace ContainerID"],
  ]);
});
