import assert from "node:assert/strict";
import { parseClusterConfig, parseNamespaceConfig } from "../../../../../lib/placement/decide/config/config.ts";
import { matchesSelector } from "../../../../../lib/vocabulary/label_selector.ts";
import { valueOf } from "../make.ts";

Deno.test("parseClusterConfig() reads what placement needs and ignores the rest", () => {
  const namespaceSelector = {
    matchExpressions: [{ key: "multiarch.openshift.io/exclude-pod-placement", operator: "DoesNotExist" }],
  };
  const value = valueOf(parseClusterConfig({
    metadata: {
      name: "cluster",
      uid: "u",
      generation: 3,
      deletionTimestamp: "2026-01-01T00:00:00Z",
      finalizers: ["f"],
    },
    spec: {
      logVerbosity: "Debug",
      fallbackArchitecture: "arm64",
      namespaceSelector,
      plugins: {
        nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] },
        execFormatErrorMonitor: {},
      },
    },
    status: { anything: 1 },
  }));
  const { generation, isDeleting, logVerbosity, fallbackArchitecture } = value;
  assert.deepEqual([generation, isDeleting, logVerbosity, fallbackArchitecture], [3, true, "Debug", "arm64"]);
  assert.equal(matchesSelector(value.namespaceSelector, { "multiarch.openshift.io/exclude-pod-placement": "" }), false);
  assert.deepEqual(value.scoring, { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] });
});

Deno.test("parseClusterConfig() has defaults for an empty spec", () => {
  for (const spec of [{}, undefined, { fallbackArchitecture: "" }, { plugins: null }]) {
    const value = valueOf(parseClusterConfig({ metadata: { name: "cluster" }, spec }));
    assert.equal(value.fallbackArchitecture, undefined);
    assert.deepEqual(value.scoring, { enabled: false, platforms: [] });
    assert.equal(value.logVerbosity, "Normal");
  }
});

Deno.test("parseNamespaceConfig() reports what is wrong", () => {
  const parsed = parseNamespaceConfig({ metadata: { name: "p", namespace: "n" }, spec: { priority: 256 } });
  assert.match(parsed.kind === "unparsable" ? parsed.fault.message : "", /spec\.priority/);
  for (const odd of [undefined, null, 7, [], {}]) assert.equal(parseNamespaceConfig(odd).kind, "unparsable");
});

Deno.test("DV-139 parseNamespaceConfig() keeps a faulty selector as one that selects nothing, and says why", () => {
  const labelSelector = { matchLabels: { "bad~key": "x" } };
  const value = valueOf(parseNamespaceConfig({ metadata: { name: "p", namespace: "n" }, spec: { labelSelector } }));
  assert.ok(value.labelSelector.kind === "unparsable");
  assert.match(value.labelSelector.message, /"bad~key" is not a label key/);
});
