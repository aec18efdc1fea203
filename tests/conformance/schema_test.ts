import assert from "node:assert/strict";
import { parse } from "yaml";
import { listAtPath, objectAtPath } from "../../playground/json_path.ts";
import { readSchema, schemaAt } from "../manifests/support/openapi.ts";

const CRD = new URL("../../manifests/base/crds/podplacementconfigs.yaml", import.meta.url);

Deno.test("DV-138 the CRD of PodPlacementConfig requires scoring to say whether it is enabled", async () => {
  const [version] = listAtPath(parse(await Deno.readTextFile(CRD)), "spec", "versions");
  const spec = objectAtPath(version, "schema", "openAPIV3Schema", "properties", "spec");
  const scoring = objectAtPath(spec, "properties", "plugins", "properties", "nodeAffinityScoring");
  assert.ok(listAtPath(scoring, "required").includes("enabled"));
});

Deno.test("M5-53 M5-54 the CRDs know nothing of celArchitecturePlacement, so it is dropped and images decide", () => {
  for (
    const [kind, version] of [["ClusterPodPlacementConfig", "v1beta1"], ["PodPlacementConfig", "v1beta1"]] as const
  ) {
    const plugins = schemaAt(readSchema(kind, version), "spec", "plugins");
    assert.equal("celArchitecturePlacement" in (plugins.properties ?? {}), false);
    assert.doesNotMatch(JSON.stringify(plugins), /x-kubernetes-preserve-unknown-fields/);
  }
});
