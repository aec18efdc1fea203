import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { parse } from "yaml";
import * as z from "zod";
import { BuildMetrics } from "../../lib/builds/metrics.ts";
import { ImageBuildsSchema } from "../../lib/config/image_builds.ts";
import { rowsUnder, sectionOf } from "./sources.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/image-builds.md", import.meta.url));
const RULES = new URL("../../manifests/components/image-builds-alerts/alerts.yaml", import.meta.url);

const ANNOTATIONS = z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() });
const RULE = z.object({ alert: z.string(), expr: z.string(), annotations: ANNOTATIONS });
const RULE_FILE = z.object({ spec: z.object({ groups: z.array(z.object({ rules: z.array(RULE) })) }) });

async function exposed(): Promise<ReadonlySet<string>> {
  const registry = new Registry();
  new BuildMetrics(registry);
  return new Set([...(await registry.metrics()).matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name));
}

Deno.test("docs/image-builds.md has every setting of image builds, and no other", () => {
  const listed = rowsUnder(PAGE, "## Settings").flatMap(([name = ""]) =>
    name.split(", ").map((one) => one.replaceAll("`", ""))
  );
  assert.deepEqual(listed.sort(), Object.keys(ImageBuildsSchema.shape).sort());
});

Deno.test("every alert of image builds asks for metrics that exist, and has its section", async () => {
  const rules = RULE_FILE.parse(parse(await Deno.readTextFile(RULES))).spec.groups.flatMap((group) => group.rules);
  const names = await exposed();
  assert.ok(rules.length >= 4);
  for (const { alert, expr, annotations } of rules) {
    const asked = [...expr.matchAll(/\b(?:ocl|mco)_[a-z_]+/g)].map(([name]) => name);
    assert.deepEqual(asked.filter((name) => !names.has(name)), [], alert);
    assert.equal(annotations.runbook_url, `docs/image-builds.md#${alert.toLowerCase()}`);
    assert.match(sectionOf(PAGE, `### ${alert}`), /^1\. \S/m, `${alert}: no step`);
  }
});
