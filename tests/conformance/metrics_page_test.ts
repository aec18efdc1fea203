import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { DAEMON_COUNTERS, DAEMON_GAUGES, FAILURE_OUTCOMES } from "../../lib/exec_format/daemon/metrics.ts";
import { BuildMetrics } from "../../lib/builds/metrics.ts";
import { openGauges, openMetrics } from "../../lib/metrics.ts";
import { ProcessMetrics, seriesIn, typesIn, upgradeMetrics } from "../support/process_metrics.ts";
import { sectionOf } from "./sources.ts";

const PAGE = Deno.readTextFileSync(new URL("../../manifests/monitoring/metrics.md", import.meta.url));
const REGISTRY = { host: "registry.example", circuit: "open", remaining: 1 } as const;

/** A scrape of everything. */
async function exposed(): Promise<string> {
  const text = await new ProcessMetrics().text({ registries: [REGISTRY] });
  const ofBuilds = new Registry();
  new BuildMetrics(ofBuilds);
  const ofDaemon = new Registry();
  openMetrics(ofDaemon, DAEMON_COUNTERS);
  openGauges(ofDaemon, DAEMON_GAUGES)({ isTracing: false, pending: 0 });
  return [text, await upgradeMetrics(), await ofBuilds.metrics(), await ofDaemon.metrics()].join("\n");
}

Deno.test("manifests/monitoring/metrics.md has every metric with its type, and no other", async () => {
  const rows = [...PAGE.matchAll(/^\|\s*`(\w+)`\s*\|\s*(counter|gauge|histogram)\s*\|/gm)];
  const types = typesIn(await exposed()).map((each) => each.join(" "));
  assert.deepEqual(rows.map(([, name, type]) => `${name} ${type}`).toSorted(), types.toSorted());
});

Deno.test("manifests/monitoring/metrics.md asks in its example queries only for series that exist", async () => {
  const known = seriesIn(await exposed());
  const cells = [...PAGE.matchAll(/^\| `\w+`.*\| ([^|]+) \|$/gm)].map(([, cell = ""]) => cell);
  const series = /\b(?:mto|archway|workqueue|rest_client|upgradeoperator|upgrade|managed_upgrade|mco|ocl)_\w+/g;
  const asked = cells.flatMap((cell) => cell.match(series) ?? []);
  assert.ok(asked.length >= 25);
  assert.deepEqual(asked.filter((name) => !known.includes(name)), []);
});

/** It looks at this process once a second, and nothing waits in its queue. */
const UNMEASURED = "gating_status";

/** Names of the controllers whose queues are measured, as their sources have them. */
async function queueNames(): Promise<readonly string[]> {
  const folder = new URL("../../controllers/", import.meta.url);
  const names: string[] = [];
  for await (const { name: part, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory) continue;
    const source = await Deno.readTextFile(new URL(`${part}/controller.ts`, folder)).catch(() => "");
    if (!source.includes("openController({") || part === UNMEASURED) continue;
    const [, name] = /openController\(\{[^}]*?\bname: "([\w-]+)"/.exec(source) ?? [];
    names.push(name ?? assert.fail(`controllers/${part} has no name that can be read`));
  }
  return names;
}

Deno.test("manifests/monitoring/metrics.md names every controller whose queue is measured, and no other", async () => {
  const [row = ""] = PAGE.match(/^\| `workqueue_depth` .*$/m) ?? [];
  const [, , , , cell = ""] = row.split("|");
  const named = [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name);
  assert.deepEqual(named.toSorted(), (await queueNames()).toSorted());
});

Deno.test("manifests/monitoring/metrics.md has every outcome of a failed start", () => {
  const [, outcomes = ""] = PAGE.split(/^\| `outcome` .*$/m);
  const named = [...outcomes.split("\n## ")[0]?.matchAll(/^\| `([\w-]+)`/gm) ?? []].map(([, name]) => name);
  assert.deepEqual(named.toSorted(), [...FAILURE_OUTCOMES].toSorted());
});

Deno.test("every metric of the daemon and of image builds has an example query that asks for it", () => {
  for (const [title, count] of [["The daemon of exec format errors", 5], ["Image builds", 25]] as const) {
    const section = sectionOf(PAGE, `## ${title}`);
    const rows = [...section.matchAll(/^\|\s*`(\w+)`\s*\|\s*(?:counter|gauge|histogram)\s*\|.*\| ([^|]+) \|$/gm)];
    assert.equal(rows.length, count, title);
    for (const [, name = "", query = ""] of rows) assert.match(query, new RegExp(`^\`.*\\b${name}(_bucket)?\\b.*\``));
  }
  assert.match(PAGE, /`sum by \(capability\) \(archway_capability_leader\)`/);
});
