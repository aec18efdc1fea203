import assert from "node:assert/strict";
import * as z from "zod";
import { type AlertGroup, readAlertGroups } from "../support/alerts.ts";
import { PAGING_ALERTS } from "../../lib/upgrades/decide/health/alert_queries.ts";
import { type ManifestObject, parseManifest } from "../../manifests/generate/kustomize.ts";
import { ProcessMetrics, seriesIn, typesIn, upgradeMetrics } from "../support/process_metrics.ts";

const FOLDER = new URL("../../manifests/monitoring/", import.meta.url);
const read = (name: string): string => Deno.readTextFileSync(new URL(name, FOLDER));

const PANELS = z.looseObject({
  panels: z.array(z.looseObject({ title: z.string(), targets: z.array(z.object({ expr: z.string() }).loose()) })),
});

function namesIn(text: string): readonly string[] {
  const prefixes =
    /\b(?:mto|archway|workqueue|rest_client|upgradeoperator|upgrade_notification|managed_upgrade)_[a-z_]+/g;
  return [...text.matchAll(prefixes)].map(([name]) => name);
}

Deno.test("every metric of the dashboard, the alerts and the runbooks is exposed", async () => {
  const exposed = new Set(seriesIn(await new ProcessMetrics().text() + await upgradeMetrics()));
  for (const file of ["dashboard.json", "prometheus_rule.yaml", "runbooks.md"]) {
    for (const name of namesIn(read(file))) assert.ok(exposed.has(name), `${file}: ${name}`);
  }
});

Deno.test("the dashboard shows every metric but those of the process", async () => {
  const shown = new Set(namesIn(read("dashboard.json")).map((name) => name.replace(/_(bucket|count|sum)$/, "")));
  const families = typesIn(await new ProcessMetrics().text()).map(([name]) => name);
  assert.deepEqual(families.filter((name) => !shown.has(name)), []);
});

Deno.test("every panel has a title and an expression", () => {
  const { panels } = PANELS.parse(JSON.parse(read("dashboard.json")));
  assert.ok(panels.length >= 13);
  for (const { title, targets } of panels) {
    assert.ok(title !== "" && targets.length > 0 && targets.every(({ expr }) => expr.trim() !== ""), title);
  }
});

/** The runbooks of a group: the sections of its file whose titles are one word, from the heading on that announces them. */
function runbooksOf({ runbooksFile }: AlertGroup): readonly { readonly title: string; readonly text: string }[] {
  const page = Deno.readTextFileSync(new URL(`../../${runbooksFile}`, import.meta.url));
  const announced = page.split("\n## When an alert fires\n").at(-1) ?? "";
  return announced.split(/^##+ (?=\S+$)/m).slice(1).map((text) => ({ title: text.split("\n", 1)[0] ?? "", text }));
}

Deno.test("every alert has a runbook with a step, and every runbook an alert", () => {
  for (const group of Object.values(readAlertGroups())) {
    const runbooks = runbooksOf(group);
    assert.deepEqual(runbooks.map(({ title }) => title), group.alerts.map(({ alert }) => alert));
    for (const { title, text } of runbooks) assert.match(text, /^1\. \S/m, `${title}: no step`);
  }
});

Deno.test("components/upgrades-original-metrics has the MUO's jobs: each scrapes its own port, and no series is in both", () => {
  const of = (name: string): readonly ManifestObject[] =>
    parseManifest(read(`../components/upgrades-original-metrics/${name}.yaml`));
  const specOf = ({ spec }: ManifestObject) => JSON.parse(JSON.stringify(spec));
  assert.deepEqual(of("services").map((service) => [service.metadata.name, specOf(service).ports[0]]), [
    ["managed-upgrade-operator-metrics", { name: "http-metrics", port: 8383, targetPort: "admin" }],
    ["managed-upgrade-operator-custom-metrics", { name: "metrics", port: 8089, targetPort: "admin" }],
  ]);
  const monitors = of("service_monitors").map((monitor) => {
    const [{ port, metricRelabelings: [{ regex, action }] }] = specOf(monitor).endpoints;
    return [monitor.metadata.name, port, regex, action];
  });
  assert.deepEqual(monitors, [
    ["managed-upgrade-operator-metrics", "http-metrics", "managed_upgrade_.*", "drop"],
    ["managed-upgrade-operator-custom-metrics", "metrics", "managed_upgrade_.*", "keep"],
  ]);
});

Deno.test("components/upgrades-monitoring scrapes the Service of components/upgrades", () => {
  const of = (name: string): readonly ManifestObject[] => parseManifest(read(`../components/${name}.yaml`));
  const [monitor] = of("upgrades-monitoring/service_monitor");
  const service = of("upgrades/deployment").find(({ kind, metadata }) =>
    kind === "Service" && JSON.stringify(metadata).includes('"archway.dev/scrape":"true"')
  );
  assert.equal(monitor?.metadata.namespace, service?.metadata.namespace);
  const ours = JSON.parse(JSON.stringify(monitor?.spec));
  assert.deepEqual(ours.selector.matchLabels, { "archway.dev/scrape": "true" });
  const ports = JSON.parse(JSON.stringify(service?.spec)).ports.map(({ name }: { name: string }) => name);
  assert.ok(ports.includes(ours.endpoints[0].port));
  const [role] = of("upgrades-monitoring/role");
  assert.equal(role?.metadata.namespace, service?.metadata.namespace);
});

Deno.test("the paging alerts of this service exist and are critical", () => {
  const own = PAGING_ALERTS.filter((name) => name.startsWith("Archway"));
  assert.equal(own.length, 4);
  const { alerts } = readAlertGroups().archway;
  for (const name of own) {
    assert.equal(alerts.find(({ alert }) => alert === name)?.labels.severity, "critical", name);
  }
});
