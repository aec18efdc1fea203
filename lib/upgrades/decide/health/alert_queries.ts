// Queries for alerts in PromQL. Names come from a ConfigMap, so each is quoted.
import type { OperatorConfig } from "../types/operator_config.ts";

export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** The alerts that page an administrator about an upgrade: those of managed clusters, and Archway's critical ones. */
export const PAGING_ALERTS = [
  "UpgradeConfigValidationFailedSRE",
  "UpgradeClusterCheckFailedSRE",
  "UpgradeControlPlaneUpgradeTimeoutSRE",
  "UpgradeNodeUpgradeTimeoutSRE",
  "UpgradeNodeDrainFailedSRE",
  "ArchwayUpgradeHealthChecksFail",
  "ArchwayUpgradeControlPlaneSlow",
  "ArchwayUpgradeWorkersSlow",
  "ArchwayUpgradeNodeDrainSlow",
] as const;

/** Archway's alerts about the upgrade itself. One that fires for a failed check must not make the next check fail. */
const OWN_ALERTS = /^ArchwayUpgrade/;

export function withoutOwnAlerts(names: readonly string[]): readonly string[] {
  return names.filter((name) => !OWN_ALERTS.test(name));
}

const PLATFORM = "^openshift.*|^kube-.*|^default$";

export function criticalAlertsQuery({ ignoredCriticals, ignoredNamespaces }: OperatorConfig["healthCheck"]): string {
  const clauses = [
    'alertstate="firing"',
    'severity="critical"',
    `namespace=~"${PLATFORM}"`,
    ...ignoredNamespaces.map((name) => `namespace!=${quoted(name)}`),
    ...ignoredCriticals.map((name) => `alertname!=${quoted(name)}`),
  ];
  return `ALERTS{${clauses.join(",")}}`;
}

/** The paging alerts that fired at any time in the interval, seen from now. Undefined when the interval is empty. */
export function pagingAlertsQuery({ startMs, endMs }: Interval, nowMs: number): string | undefined {
  const seconds = Math.ceil((endMs - startMs) / 1_000);
  if (!(seconds > 0)) return undefined;
  const sinceEnd = Math.max(0, Math.floor((nowMs - endMs) / 1_000));
  const offset = sinceEnd === 0 ? "" : ` offset ${sinceEnd}s`;
  const names = PAGING_ALERTS.join("|");
  return `sum by (alertname) (max_over_time(ALERTS{alertstate="firing",severity="critical",alertname=~"${names}"}` +
    `[${seconds}s]${offset}))`;
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
