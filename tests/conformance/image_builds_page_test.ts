import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { BuildMetrics } from "../../lib/builds/metrics.ts";
import { ImageBuildsSchema } from "../../lib/config/image_builds.ts";
import { readAlertGroups } from "../support/alerts.ts";
import { rowsUnder } from "./sources.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/image-builds.md", import.meta.url));

Deno.test("docs/image-builds.md has every setting of image builds, and no other", () => {
  const listed = rowsUnder(PAGE, "## Settings").flatMap(([name = ""]) =>
    name.split(", ").map((one) => one.replaceAll("`", ""))
  );
  assert.deepEqual(listed.sort(), Object.keys(ImageBuildsSchema.shape).sort());
});

Deno.test("every alert of image builds asks for metrics that exist", async () => {
  const { alerts } = readAlertGroups().imageBuilds;
  const registry = new Registry();
  new BuildMetrics(registry);
  const names = new Set([...(await registry.metrics()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  assert.ok(alerts.length >= 4);
  for (const { alert, expr } of alerts) {
    const asked = [...expr.matchAll(/\b(?:ocl|mco)_[a-z_]+/g)].map(([name]) => name);
    assert.deepEqual(asked.filter((name) => !names.has(name)), [], alert);
  }
});
