// The objects for the Prometheus operator, where it is installed: what to scrape, and when to alert.
import SERVICE_MONITOR from "../../../manifests/monitoring/service_monitor.yaml" with { type: "text" };
import PROMETHEUS_RULE from "../../../manifests/monitoring/prometheus_rule.yaml" with { type: "text" };
import { isObject, listAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { OperandConfig } from "../decide/config_view.ts";
import { renderManifest } from "./manifest.ts";

interface MonitoringSettings {
  readonly namespace: string;
  /** Address under which the files of this repository can be read; empty leaves links relative to the repository. */
  readonly runbookBaseUrl: string;
}

/** The objects of manifests/monitoring, for the operator namespace. They exist for as long as a config does. */
export function renderMonitoring(config: OperandConfig, settings: MonitoringSettings): readonly KubeObject[] {
  const { namespace, runbookBaseUrl } = settings;
  const base = runbookBaseUrl === "" ? "" : runbookBaseUrl.replace(/(?<!\/)\/*$/, "/");
  const fill = (key: string, value: unknown): unknown => key === "runbook_url" ? `${base}${value}` : value;
  return [SERVICE_MONITOR, PROMETHEUS_RULE].map((text) => renderManifest(text, config, { namespace, fill }));
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

export function offersMonitoring(discovery: unknown): boolean {
  const kinds = (listAt(discovery, "resources") ?? []).map((resource) => textAt(resource, "kind"));
  return ["ServiceMonitor", "PrometheusRule"].every((kind) => kinds.includes(kind));
}
