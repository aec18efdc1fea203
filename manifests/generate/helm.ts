// `deno task helm`: writes manifests/helm/archway from what kustomize renders. Needs kubectl. Changes nothing else.
import { join } from "node:path";
import * as z from "zod";
import { type ChartSources, renderTemplates, withMember } from "./chart.ts";
import { EXTRA_ARGUMENT, FEATURES, settingMark, SETTINGS } from "./features.ts";
import { type ManifestObject, MANIFESTS, renderComposition, renderFolder } from "./kustomize.ts";

export const CHART: string = join(MANIFESTS, "helm", "archway");

const PACKAGE = z.object({ version: z.string() });
const DEPLOYMENT = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(z.object({ image: z.string() })) }) }) }),
});

/** Reads everything that templates are made of. Throws when kubectl cannot render a part. */
export async function readChartSources(): Promise<ChartSources> {
  const base = await renderFolder("base");
  const features = [];
  for (const { condition, overlay = "base", component } of FEATURES) {
    features.push({
      condition,
      objects: await renderComposition(overlay, component === undefined ? [] : [component]),
    });
  }
  for (const { value, path } of SETTINGS) {
    features.push({ condition: `.Values.${value}`, objects: withMember(base, { path, value: settingMark(value) }) });
  }
  const withExtraArgument = withMember(base, {
    path: "/spec/template/spec/containers/0/args/-",
    value: EXTRA_ARGUMENT,
  });
  return { base, features, withExtraArgument, image: imageOf(base) };
}

/** The files of the chart: path inside of it → text. */
export async function renderChart(): Promise<ReadonlyMap<string, string>> {
  const sources = await readChartSources();
  const { version } = PACKAGE.parse(JSON.parse(await Deno.readTextFile(join(MANIFESTS, "..", "deno.json"))));
  return new Map([
    ["Chart.yaml", renderChartFile(version)],
    ["values.yaml", renderValues(sources.image)],
    ["values.schema.json", `${JSON.stringify(VALUES_SCHEMA, undefined, 2)}\n`],
    ["templates/NOTES.txt", NOTES],
    ...[...renderTemplates(sources)].map(([name, text]) => [`templates/${name}`, text] as const),
  ]);
}

function imageOf(objects: readonly ManifestObject[]): string {
  const { spec } = DEPLOYMENT.parse(objects.find(({ kind }) => kind === "Deployment"));
  return spec.template.spec.containers[0]?.image ?? "";
}

function renderChartFile(version: string): string {
  return `apiVersion: v2
name: archway
description: Makes a cluster of mixed CPU architectures behave like one pool.
type: application
version: ${version}
appVersion: ${version}
kubeVersion: ">=1.27.0-0"
`;
}

function renderValues(image: string): string {
  return `# Where you pushed the image of \`deno task image\`; best by digest.
image: ${image}
replicas: 2
# vanilla: the service makes its own certificates; cert-manager; openshift: service CA; gke: own certificates, port 10250.
variant: vanilla
# ServiceMonitor, PrometheusRule and dashboard; needs the Prometheus operator. Part of openshift. Where that selects by a
# label (release=… of kube-prometheus-stack): kubectl label servicemonitor,prometheusrule archway release=…; it is kept.
monitoring: false
# Where the files of Archway's repository can be read, as https://git.example.com/archway/blob/main/ with the last slash:
# the links of alerts to their runbooks begin with it.
runbookBaseUrl: ""
# Which pull secrets may be read: pod (those that pods name), own-namespace, none.
pullSecrets: pod
# Inspect images of workload templates before pods exist.
prewarm: false
# Narrow pods to architectures that nodes have or can be made with.
liveArchitectures: false
# Keep an architecture taint on every node, and its toleration on every pod; see docs/taints.md. With tolerations of your
# own for the Deployment, below, repeat that of supported-arch.
archTaints: false
# Event on a DaemonSet whose images miss an architecture of the cluster.
daemonsetsWarn: false
# Trust the CA in the ConfigMap archway-registry-ca (key ca.crt) for every registry.
registryCa: false
# Mirrors, blocked registries and short names from the ConfigMap archway-registries-conf (key registries.conf).
registriesConf: false
# Read the node's registry configuration, as the Multiarch Tuning Operator does; needs a privileged namespace.
nodeRegistryConfig: false
# Report containers that run a program of another architecture; needs a privileged namespace and Kubernetes 1.30.
execFormatErrors: false
# Where you pushed the image of its daemon; best by digest.
execFormatImage: registry.example.com/archway-daemon:0.1.0
# With execFormatErrors: evict such pods where their owners make them again and Archway places them elsewhere.
execFormatRepair: false
# Build node images for every architecture of a pool (OpenShift); see docs/image-builds.md.
imageBuilds: false
# Its settings, by name: imageBuildsSettings.maxParallel. The Deployment archway-image-builds reads them when it starts.
imageBuildsSettings: {}
# Alerts of image builds; needs the Prometheus operator.
imageBuildsAlerts: false
# Upgrade the cluster, and migrate it to several architectures (OpenShift); see docs/upgrades.md.
upgrades: false
# With upgrades: rights to delete pods that keep a node from being drained, where a plan asks for it.
upgradesDrain: false
# With upgrades: have OpenShift's Prometheus scrape them; the alerts are part of monitoring.
upgradesMonitoring: false
# Rights to free what the Multiarch Tuning Operator left behind; for taking over from it.
migration: false
# More flags of \`archway serve\`.
extraArgs: []
# Of every Deployment, each as a whole; empty is as in the manifests. The secrets must be in the namespace of each. For gke
# the tolerations are set already.
imagePullSecrets: []
nodeSelector: {}
tolerations: []
# Of the Deployment archway.
resources: {}
`;
}

const SWITCH = { type: "boolean" };
const LIST = { type: "array", items: { type: "object" } };
const VALUES_SCHEMA = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  additionalProperties: false,
  properties: {
    image: { type: "string", minLength: 1 },
    replicas: { type: "integer", minimum: 1 },
    variant: { enum: ["vanilla", "cert-manager", "openshift", "gke"] },
    monitoring: SWITCH,
    runbookBaseUrl: { type: "string", pattern: "^(https?://.+/)?$" },
    pullSecrets: { enum: ["pod", "own-namespace", "none"] },
    prewarm: SWITCH,
    liveArchitectures: SWITCH,
    archTaints: SWITCH,
    daemonsetsWarn: SWITCH,
    execFormatErrors: SWITCH,
    execFormatImage: { type: "string", minLength: 1 },
    execFormatRepair: SWITCH,
    imageBuilds: SWITCH,
    imageBuildsSettings: { type: "object" },
    imageBuildsAlerts: SWITCH,
    upgrades: SWITCH,
    upgradesDrain: SWITCH,
    upgradesMonitoring: SWITCH,
    migration: SWITCH,
    registryCa: SWITCH,
    registriesConf: SWITCH,
    nodeRegistryConfig: SWITCH,
    extraArgs: { type: "array", items: { type: "string", pattern: "^--[a-z]" } },
    imagePullSecrets: LIST,
    nodeSelector: { type: "object", additionalProperties: { type: "string" } },
    resources: { type: "object" },
    tolerations: LIST,
    global: { type: "object" },
  },
  if: { properties: { variant: { const: "gke" } }, required: ["variant"] },
  then: { properties: { tolerations: { maxItems: 0 } } },
};

const NOTES = `Archway runs in {{ .Release.Namespace }}. It touches no pod before a configuration exists:

  kubectl apply -f - <<EOF
  apiVersion: multiarch.openshift.io/v1beta1
  kind: ClusterPodPlacementConfig
  metadata:
    name: cluster
  EOF

The namespace is yours; the manifests of kustomize put these labels on it:

  kubectl label --overwrite namespace {{ .Release.Namespace }} pod-security.kubernetes.io/enforce={{ if or .Values.nodeRegistryConfig .Values.execFormatErrors }}privileged{{ else }}restricted{{ end }}
{{- if eq .Values.variant "openshift" }}
  kubectl label namespace {{ .Release.Namespace }} openshift.io/cluster-monitoring=true
{{- end }}

Before you uninstall: kubectl delete podplacementconfigs -A --all, then kubectl delete clusterpodplacementconfig cluster. The {{ if .Values.upgrades }}four{{ else }}three{{ end }} CustomResourceDefinitions stay.
`;

async function writeChart(): Promise<void> {
  const files = await renderChart();
  await Deno.remove(CHART, { recursive: true }).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(join(CHART, "templates"), { recursive: true });
  for (const [path, text] of files) await Deno.writeTextFile(join(CHART, path), text);
}

if (import.meta.main) await writeChart();
