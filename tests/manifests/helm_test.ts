import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { ImageBuildsSchema } from "../../lib/config/image_builds.ts";
import { parseConfig } from "../../lib/config/parse.ts";
import { RUNBOOK_BASE_URL } from "../../lib/names.ts";
import { objectAtPath } from "../../playground/json_path.ts";
import { readAlertGroups } from "../support/alerts.ts";
import { FEATURES, SETTINGS } from "../../manifests/generate/features.ts";
import { renderTemplates } from "../../manifests/generate/chart.ts";
import { CHART, readChartSources } from "../../manifests/generate/helm.ts";
import {
  type ManifestObject,
  MANIFESTS,
  parseManifest,
  renderComposition,
  renderFolder,
} from "../../manifests/generate/kustomize.ts";
import { assertSameObjects } from "./support/compare.ts";
import { runCommand } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { findHelm } from "./support/helm.ts";

const CANNOT_RENDER = lacks("kubectl") || lacks("helm");
const test = (name: string, fn: () => Promise<void>): void => Deno.test({ name, ignore: CANNOT_RENDER, fn });
const POD = ["spec", "template", "spec"];
const VERSIONED = z.object({ version: z.string(), appVersion: z.exactOptional(z.string()) });

async function readChart(folder = CHART): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isFile) files.set(entry.name, await Deno.readTextFile(path));
    else for (const [name, text] of await readChart(path)) files.set(`${entry.name}/${name}`, text);
  }
  return files;
}

async function renderWith(
  values: Readonly<Record<string, unknown>>,
  namespace = "archway-system",
): Promise<readonly ManifestObject[]> {
  const helm = await findHelm() ?? assert.fail("no Helm");
  const sets = Object.entries(values).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`);
  const given = [`--namespace=${namespace}`, "--kube-version=1.33.0", ...sets];
  return parseManifest(await runCommand(helm, ["template", "archway", CHART, ...given]));
}

test("the chart is up to date with the manifests (deno task helm)", async () => {
  const rendered = renderTemplates(await readChartSources());
  const onDisk = [...await readChart()].filter(([name]) => /^templates\/.*\.yaml$/.test(name));
  const names = [...rendered.keys()].map((name) => `templates/${name}`);
  assert.deepEqual(onDisk.map(([name]) => name).sort(), names.sort());
  for (const [name, text] of onDisk) assert.equal(text, rendered.get(name.replace("templates/", "")), name);
});

test("the chart with its own values is manifests/base", async () => {
  assertSameObjects(await renderWith({}), await renderFolder("base"));
});

for (const { values, overlay = "base", component } of FEATURES) {
  const components = component === undefined ? [] : [component];
  test(`the chart with ${JSON.stringify(values)} is ${[overlay, ...components].join(" with ")}`, async () => {
    assertSameObjects(await renderWith(values), await renderComposition(overlay, components));
  });
}

for (const overlay of [undefined, "overlays/cert-manager", "overlays/openshift", "overlays/gke"]) {
  test(`the chart with every feature is ${overlay ?? "base"} with every component`, async () => {
    const chosen = FEATURES.filter((feature) =>
      (feature.component !== undefined && feature.overlay === undefined &&
        !("pullSecrets" in feature.values && feature.values.pullSecrets === "none") &&
        !(overlay === "overlays/openshift" && "monitoring" in feature.values)) ||
      (overlay !== undefined && feature.overlay === overlay)
    );
    const components = chosen.flatMap(({ component }) => component ?? []);
    const values: Record<string, unknown> = Object.assign({ monitoring: true }, ...chosen.map(({ values }) => values));
    assertSameObjects(await renderWith(values), await renderComposition(overlay ?? "base", components));
  });
}

test("where pods may run and who may pull holds for every Deployment of the chart, what they use for the first", async () => {
  const ofEvery = {
    imagePullSecrets: [{ name: "registry" }],
    nodeSelector: { "kubernetes.io/arch": "amd64" },
    tolerations: [{ key: "infra", operator: "Exists" }],
  };
  assert.deepEqual(Object.keys(ofEvery), SETTINGS.filter(({ isOfEvery }) => isOfEvery).map(({ value }) => value));
  assert.deepEqual(SETTINGS.filter(({ isOfEvery }) => !isOfEvery).map(({ value }) => value), ["resources"]);
  const features = { upgrades: true, imageBuilds: true };
  const deployments = async (values: Readonly<Record<string, unknown>>): Promise<readonly ManifestObject[]> =>
    (await renderWith({ ...features, ...values })).filter(({ kind }) => kind === "Deployment");
  const [usual, set] = [await deployments({}), await deployments({ ...ofEvery, resources: { limits: {} } })];
  const names = set.map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ["archway-image-builds", "archway-upgrades", "archway"]);
  for (const [at, deployment] of set.entries()) {
    const [pod, before] = [objectAtPath(deployment, ...POD), objectAtPath(usual[at], ...POD)];
    for (const [name, value] of Object.entries(ofEvery)) assert.deepEqual(pod[name], value, name);
    const [resources, own] = [pod, before].map((each) => objectAtPath(each, "containers", 0, "resources"));
    assert.deepEqual(resources, deployment.metadata.name === "archway" ? { limits: {} } : own);
    assert.deepEqual(pod["affinity"], before["affinity"]);
  }
});

test("a value that was removed is refused with what replaces it", async () => {
  await assert.rejects(renderWith({ imageBuildsHoldPods: true }), /it was removed: set imageBuildsHoldWebhook/);
});

test("every alert of the chart and of the service itself leads to where the repository can be read", async () => {
  const runbookBaseUrl = "https://git.example.com/archway/blob/main/";
  const objects = await renderWith({ monitoring: true, runbookBaseUrl });
  const links = [...JSON.stringify(objects).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, link]) => link);
  const { alerts, runbooksFile } = readAlertGroups().archway;
  assert.deepEqual(links, alerts.map(({ alert }) => `${runbookBaseUrl}${runbooksFile}#${alert.toLowerCase()}`));
  const deployment = objects.find(({ kind }) => kind === "Deployment");
  assert.deepEqual(deployment?.metadata.annotations, { [RUNBOOK_BASE_URL]: runbookBaseUrl });
});

test("the chart follows the release's namespace, the image, the replicas and extra arguments", async () => {
  const values = { image: "registry.test/archway@sha256:0", replicas: 5, extraArgs: ["--audit", "--tag-ttl=8m"] };
  assert.ok(!JSON.stringify(await renderWith(values, "elsewhere")).includes("archway-system"));
  const deployment = JSON.stringify((await renderWith(values)).find(({ kind }) => kind === "Deployment"));
  for (const part of ['"replicas":5', '"image":"registry.test/archway@sha256:0"', '"--audit","--tag-ttl=8m"]']) {
    assert.ok(deployment.includes(part), part);
  }
});

test("settings of image builds are those of the file that their service reads, and the links of their alerts begin alike", async () => {
  const runbookBaseUrl = "https://git.example.com/archway/blob/main/";
  const imageBuildsSettings = { maxParallel: 1, jobDeadline: "2h", requests: { cpu: "2" } };
  const features = { imageBuilds: true, imageBuildsAlerts: true };
  const objects = await renderWith({ ...features, imageBuildsSettings, runbookBaseUrl });
  const file = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "archway-image-builds");
  const { "config.yaml": text = "" } = z.record(z.string(), z.string()).parse(file?.data);
  const parsed = parseConfig(["serve", "--config=/f"], { env: {}, readFile: () => text });
  assert.ok(parsed.kind === "run", JSON.stringify(parsed));
  assert.deepEqual(parsed.config.imageBuilds, ImageBuildsSchema.parse(imageBuildsSettings));
  assert.equal(parsed.config.imageBuilds.jobDeadline, 7_200_000);
  const rule = objects.find(({ kind }) => kind === "PrometheusRule");
  const links = [...JSON.stringify(rule).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, link = ""]) => link);
  assert.ok(links.length > 0 && links.every((link) => link.startsWith(`${runbookBaseUrl}docs/image-builds.md#`)));
});

Deno.test("the chart has the version of the project", async () => {
  const { version } = VERSIONED.parse(JSON.parse(await Deno.readTextFile(join(MANIFESTS, "..", "deno.json"))));
  const chart = VERSIONED.parse(parse((await readChart()).get("Chart.yaml") ?? ""));
  assert.deepEqual(chart, { version, appVersion: version });
});
