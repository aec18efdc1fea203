// Keeps a ServiceMonitor and PrometheusRule, owned by the cluster config, if the cluster serves these kinds.
import { entryOf } from "../../lib/json.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { RUNBOOK_BASE_URL } from "../../lib/names.ts";
import type { OperandConfig } from "../../lib/operator/decide/config_view.ts";
import { isCovered, offersMonitoring, renderMonitoring } from "../../lib/operator/cluster/monitoring.ts";
import type { OperatorRun } from "./deps.ts";
import { recordConfigEvent } from "./report.ts";

const KINDS: Readonly<Record<string, ResourceType>> = {
  ServiceMonitor: Resource.serviceMonitors,
  PrometheusRule: Resource.prometheusRules,
};

/** Updates both objects. Archway works without them, so faults are only logged. */
export async function applyMonitoring(run: OperatorRun, config: OperandConfig): Promise<void> {
  const { api, settings, log, signal } = run;
  try {
    const { group, version } = Resource.serviceMonitors;
    if (!offersMonitoring(await api.raw(`/apis/${group}/${version}`, signal))) return;
    const { deploymentName: name, namespace } = settings;
    const own = name === undefined
      ? undefined
      : await readOptional(api, { type: Resource.deployments, namespace, name, signal });
    const runbookBaseUrl = entryOf(own?.metadata.annotations, RUNBOOK_BASE_URL) ?? "";
    for (const object of renderMonitoring(config, { namespace, runbookBaseUrl })) await applyOne(run, object);
  } catch (error) {
    if (signal.aborted || error instanceof ApiError && error.status === 404) return;
    log.warn("monitoring objects not applied", { error: errorText(error) });
  }
}

async function applyOne(run: OperatorRun, document: KubeObject): Promise<void> {
  const { kind = "", metadata: { name } } = document;
  const { api, settings: { namespace }, signal } = run;
  const type = KINDS[kind];
  if (type === undefined) return;
  const live = await readOptional(api, { type, namespace, name, signal });
  if (live !== undefined && isCovered(live, document)) return;
  await api.patch(type, { namespace, name }, { body: { kind: "apply", document }, signal });
  const [verb, why] = live === undefined ? ["Created", "it was missing"] : ["Updated", "it changed"];
  const message = `${verb.toLowerCase()} ${kind}.${type.group}/${name} -n ${namespace} because ${why}`;
  recordConfigEvent(run, { type: "Normal", reason: `${kind}${verb}`, message });
}
