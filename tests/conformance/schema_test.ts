// Rows about the schema that the CRDs must say themselves. Source: pod placement §2.10, DV-138.
import assert from "node:assert/strict";
import { parse } from "yaml";
import { listAt, objectAt } from "../../lib/playground/json_value.ts";

const CRD = new URL("../../manifests/base/crds/podplacementconfigs.yaml", import.meta.url);

Deno.test("DV-138 the CRD of PodPlacementConfig requires scoring to say whether it is enabled", async () => {
  const [version] = listAt(parse(await Deno.readTextFile(CRD)), "spec", "versions");
  const spec = objectAt(version, "schema", "openAPIV3Schema", "properties", "spec");
  const scoring = objectAt(spec, "properties", "plugins", "properties", "nodeAffinityScoring");
  assert.ok(listAt(scoring, "required").includes("enabled"));
});
