// Carries effects out in their order. Every one of them can be repeated: after a crash it may have been carried out already.
import type { KubeApi } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { unreachable } from "../../lib/parsed.ts";
import { CLUSTER_VERSION_NAME } from "../../lib/upgrades/names.ts";
import {
  createSmokeMachineSet,
  deleteSmokeMachineSets,
  releaseCapacity,
  reserveCapacity,
} from "../../lib/upgrades/cluster/capacity.ts";
import type { Effect } from "../../lib/upgrades/decide/types/effects.ts";
import type { Answer } from "../../lib/upgrades/decide/types/steps.ts";
import type { DeliveryRecord } from "../../lib/upgrades/outside/sinks/sink.ts";
import type { ReadScope, UpgradesDeps } from "./deps.ts";

export type Applied = Extract<Answer, { readonly kind: "applied" }>;

export interface ApplyScope extends ReadScope {
  readonly setDesiredVersion: (version: string) => Promise<void>;
  readonly deliveries: DeliveryRecord;
}

export async function applyEffects(
  effects: readonly Effect[],
  deps: UpgradesDeps,
  scope: ApplyScope,
): Promise<Applied> {
  const done: Effect[] = [];
  for (const effect of effects) {
    try {
      await applyEffect(effect, deps, scope);
      done.push(effect);
    } catch (error) {
      scope.signal.throwIfAborted();
      const failure = errorText(error);
      deps.log.warn("an effect failed", { effect: effect.kind, error: failure });
      if (effect.kind !== "notify" || effect.onFailure === "stop") return { kind: "applied", done, failure };
      // Nothing waits for this notification, so the log is enough.
      deps.gauges.set("upgrade_notification_failed", { event: effect.notification.state }, 0);
    }
  }
  return { kind: "applied", done, failure: undefined };
}

async function applyEffect(effect: Effect, deps: UpgradesDeps, scope: ApplyScope): Promise<void> {
  const { api, gauges, outside } = deps;
  const { base, signal } = scope;
  switch (effect.kind) {
    case "notify":
      if (base === undefined) throw new Error("Cannot send a notification: there is no UpgradeConfig.");
      return await outside.notify(effect.notification, { plan: base.plan, record: scope.deliveries, signal });
    case "createSilence":
      return await outside.createSilence(effect.silence, signal);
    case "endSilence":
      return await outside.endSilence(effect.id, signal);
    case "patchClusterVersion":
      await patchClusterVersion(api, effect, signal);
      // Notifications that failed before it are not tried again.
      return gauges.clear("upgrade_notification_failed");
    case "reserveCapacity":
      return await reserveCapacity(api, scope);
    case "releaseCapacity":
      return await releaseCapacity(api, { drain: effect.drain, scope });
    case "createSmokeMachine":
      return await createSmokeMachineSet(api, effect.template, signal);
    case "deleteSmokeMachine":
      return await deleteSmokeMachineSets(api, signal);
    case "annotateFileIntegrity":
      return await annotateFileIntegrity(api, effect.annotations, signal);
    case "setDesiredVersion":
      return await scope.setDesiredVersion(effect.version);
    case "setMetric":
      return gauges.set(effect.metric, effect.labels, effect.value);
    case "clearMetric":
      return gauges.clear(effect.metric);
    case "clearMetrics":
      return gauges.clearGroup(effect.group);
    default:
      return unreachable(effect);
  }
}

/** Guarded by the resourceVersion that the decision was made from: a change by another is decided about anew. */
async function patchClusterVersion(
  api: KubeApi,
  { patch, resourceVersion }: Extract<Effect, { readonly kind: "patchClusterVersion" }>,
  signal: AbortSignal,
): Promise<void> {
  const document = { ...patch, metadata: { resourceVersion } };
  await api.patch(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, {
    body: { kind: "merge", document },
    signal,
  });
}

const FILE_INTEGRITY = { namespace: "openshift-file-integrity", name: "osd-fileintegrity" } as const;

async function annotateFileIntegrity(
  api: KubeApi,
  annotations: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const document = { metadata: { annotations } };
  await api.patch(Resource.fileIntegrities, FILE_INTEGRITY, { body: { kind: "merge", document }, signal });
}
