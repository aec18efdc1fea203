// What the Prometheus operator is given where it is installed: what to scrape, and when to alert.
import { isObject, type JsonObject, objectAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { Alert } from "../../cluster/alert.ts";
import { ALERT_GROUPS, type AlertGroup } from "../alerts.ts";
import type { OperandConfig } from "./config_view.ts";
import { renderOwnerReference } from "./webhooks.ts";

export interface MonitoringSettings {
  readonly namespace: string;
  /** Address under which the files of this repository can be read; empty leaves links relative to the repository. */
  readonly runbookBaseUrl: string;
}

/** The objects that shall exist in the operator namespace while a config exists; as in manifests/monitoring. */
export function renderMonitoring(config: OperandConfig, settings: MonitoringSettings): readonly KubeObject[] {
  const { namespace, runbookBaseUrl } = settings;
  const metadata = { name: "archway", namespace, ownerReferences: [renderOwnerReference(config)] };
  const apiVersion = "monitoring.coreos.com/v1";
  return [
    {
      apiVersion,
      kind: "ServiceMonitor",
      metadata,
      spec: {
        selector: { matchLabels: { "archway.dev/scrape": "true" } },
        endpoints: [{ port: "metrics", path: "/metrics", scheme: "http", interval: "30s" }],
      },
    },
    {
      apiVersion,
      kind: "PrometheusRule",
      metadata,
      spec: { groups: renderAlertGroups(ALERT_GROUPS.archway, runbookBaseUrl) },
    },
  ];
}

/** The groups of a PrometheusRule; with an empty base, links to runbooks are relative to the repository. */
export function renderAlertGroups(
  { name, alerts, runbooksFile }: AlertGroup,
  runbookBaseUrl: string,
): readonly JsonObject[] {
  const base = runbookBaseUrl === "" ? "" : runbookBaseUrl.replace(/(?<!\/)\/*$/, "/");
  return [{ name: `${name}.rules`, rules: alerts.map((alert) => renderAlert(alert, `${base}${runbooksFile}`)) }];
}

function renderAlert(alert: Alert, runbooksUrl: string): JsonObject {
  const { name, expression, forDuration, severity, summary, description } = alert;
  return {
    alert: name,
    expr: expression,
    for: forDuration,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${runbooksUrl}#${name.toLowerCase()}` },
  };
}

/** Whether a live object has every member of the desired one; members that others added do not count. */
export function isCovered(live: KubeObject, desired: KubeObject): boolean {
  return covers(live.spec, desired.spec) && covers(live.metadata.ownerReferences, desired.metadata.ownerReferences);
}

function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, at) => covers(live[at], item));
  }
  if (!isObject(wanted)) return live === wanted;
  return isObject(live) && Object.keys(wanted).every((key) => covers(live[key], wanted[key]));
}

/** Whether the discovery document of `monitoring.coreos.com/v1` offers both kinds. */
export function offersMonitoring(discovery: unknown): boolean {
  const resources = isObject(discovery) ? discovery.resources : undefined;
  const kinds = Array.isArray(resources) ? resources.map((resource) => objectAt({ resource }, "resource")?.kind) : [];
  return ["ServiceMonitor", "PrometheusRule"].every((kind) => kinds.includes(kind));
}
