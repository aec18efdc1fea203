import assert from "node:assert/strict";
import { parse } from "yaml";
import { renderMonitoring } from "../../../lib/operator/cluster/monitoring.ts";
import { makeOperandConfig } from "../../lib/operator/decide/make.ts";

const FOLDER = new URL("../../../manifests/monitoring/", import.meta.url);

Deno.test("218 the operator keeps the very objects that manifests/monitoring installs", async () => {
  const rendered = renderMonitoring(makeOperandConfig(), { namespace: "archway-system", runbookBaseUrl: "" });
  for (const [index, file] of ["service_monitor.yaml", "prometheus_rule.yaml"].entries()) {
    const installed = parse(await Deno.readTextFile(new URL(file, FOLDER)));
    const { metadata, ...rest } = JSON.parse(JSON.stringify(rendered[index]));
    const { ownerReferences: _owner, ...named } = metadata;
    assert.deepEqual({ ...rest, metadata: named }, installed, file);
  }
});
