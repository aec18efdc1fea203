import assert from "node:assert/strict";
import { parseClusterConfig, parseNamespaceConfig } from "../../../../../lib/placement/decide/config/config.ts";
import { valueOf } from "../make.ts";

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
