// Keeps ServiceMonitor and PrometheusRule where the cluster serves these kinds, also when it begins to later. The cluster
// config owns them: the garbage collector deletes them with it.
import { ApiError } from "../../lib/k8s/errors.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import type { OperandConfig } from "../../lib/operand/config_view.ts";
import { isCovered, offersMonitoring, renderMonitoring } from "../../lib/operand/monitoring.ts";
import { recordConfigEvent } from "./events.ts";
import type { OperatorDeps } from "./deps.ts";

const KINDS: Readonly<Record<string, ResourceType>> = {
  ServiceMonitor: Resource.serviceMonitors,
  PrometheusRule: Resource.prometheusRules,
};

/** Brings both objects up to date. Monitoring is a comfort: faults are logged, never thrown. */
export async function applyMonitoring(
  deps: OperatorDeps,
  config: OperandConfig,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { group, version } = Resource.serviceMonitors;
    if (!offersMonitoring(await deps.api.raw(`/apis/${group}/${version}`, signal))) return;
    for (const object of renderMonitoring(config, deps.settings)) {
      await applyOne(deps, object, signal);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError && error.status === 404) return;
    deps.log.warn("monitoring objects not applied", { error: errorText(error) });
  }
}

async function applyOne(deps: OperatorDeps, desired: KubeObject, signal: AbortSignal): Promise<void> {
  const { kind = "" } = desired;
  const type = KINDS[kind];
  if (type === undefined) return;
  const { name } = desired.metadata;
  const { namespace } = deps.settings;
  const live = await readOptional(deps.api, { type, namespace, name, signal });
  if (live !== undefined && isCovered(live, desired)) return;
  await deps.api.patch(type, { namespace, name }, { body: { kind: "apply", document: desired, force: true }, signal });
  const [verb, why] = live === undefined ? ["created", "it was missing"] : ["updated", "it changed"];
  recordConfigEvent(deps, {
    type: "Normal",
    reason: `${kind}${live === undefined ? "Created" : "Updated"}`,
    message: `${verb} ${kind}.${type.group}/${name} -n ${namespace} because ${why}`,
  });
}
