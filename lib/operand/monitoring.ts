// What the Prometheus operator is told when it is there: whom to scrape and when to alert. Used by controllers/operator.
// Source: operator §4.2, §4.3; the alerts keep their names, their expressions read this service's own metrics.
import { isObject, objectAt } from "../placement/raw.ts";
import type { RawObject } from "../placement/types.ts";
import type { KubeObject } from "../k8s/types.ts";
import type { OperandConfig } from "./config_view.ts";
import { OPERAND_LABELS, renderOwnerReference } from "./webhooks.ts";

/** Labels by which the ServiceMonitor finds the metrics Service, and the name of its port. */
export const METRICS_SERVICE = { labels: { "app.kubernetes.io/name": "archway" }, port: "metrics" } as const;

interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly forDuration: string;
  readonly severity: "critical" | "warning";
  readonly summary: string;
  readonly description: string;
}

/** The objects that shall exist in the operator namespace while a config exists. */
export function renderMonitoring(
  config: OperandConfig,
  settings: { readonly namespace: string; readonly deploymentName: string },
): readonly KubeObject[] {
  const { namespace } = settings;
  const metadata = (name: string): KubeObject["metadata"] => ({
    name,
    namespace,
    labels: OPERAND_LABELS,
    ownerReferences: [renderOwnerReference(config)],
  });
  return [
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "ServiceMonitor",
      metadata: metadata("archway"),
      spec: {
        endpoints: [{ port: METRICS_SERVICE.port, path: "/metrics", scheme: "http", honorLabels: true }],
        namespaceSelector: { matchNames: [namespace] },
        selector: { matchLabels: METRICS_SERVICE.labels },
      },
    },
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: metadata("multiarch-tuning-operator"),
      spec: { groups: [{ name: "multiarch-tuning-operator.rules", rules: alerts(settings).map(renderAlert) }] },
    },
  ];
}

function alerts(
  { namespace, deploymentName }: { readonly namespace: string; readonly deploymentName: string },
): readonly Alert[] {
  const own = `{namespace="${namespace}"}`;
  return [
    {
      name: "PodPlacementControllerDown",
      expression: `absent(archway_leader${own}) or max(archway_leader${own}) == 0`,
      forDuration: "1m",
      severity: "critical",
      summary: "No replica of Archway leads.",
      description: "Gated pods are not placed. New pods are no longer gated after 30 s without leader. " +
        "`archway release` frees the pods that are gated.",
    },
    {
      name: "PodPlacementWebhookDown",
      expression:
        `kube_deployment_status_replicas_available{namespace="${namespace}", deployment="${deploymentName}"} == 0`,
      forDuration: "5m",
      severity: "warning",
      summary: "No replica of Archway is available.",
      description: "New pods are admitted without being gated: they may be scheduled where their images cannot run.",
    },
    {
      name: "PodPlacementGatingStopped",
      expression: `max(archway_gating${own}) == 0`,
      forDuration: "2m",
      severity: "warning",
      summary: "Archway does not gate pods.",
      description: "The condition GatingStopped of the ClusterPodPlacementConfig says why.",
    },
  ];
}

function renderAlert({ name, expression, forDuration, severity, summary, description }: Alert): RawObject {
  return {
    alert: name,
    expr: expression,
    for: forDuration,
    labels: { severity },
    annotations: { summary, description },
  };
}

/** Whether a live object says everything the desired one does; members that others added do not count. */
export function isCovered(live: KubeObject, desired: KubeObject): boolean {
  return covers(live.spec, desired.spec) && covers(live.metadata.labels, desired.metadata.labels) &&
    covers(live.metadata.ownerReferences, desired.metadata.ownerReferences);
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
