// Applies effects in order. All of them are repeatable: after a crash they may already be applied.
import type { KubeApi } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { assertNever } from "../../lib/parsed.ts";
import { CLUSTER_VERSION_NAME } from "../../lib/upgrades/names.ts";
import {
  createSmokeMachineSet,
  deleteSmokeMachineSets,
  releaseCapacity,
  reserveCapacity,
} from "../../lib/upgrades/cluster/capacity.ts";
import type { Effect } from "../../lib/upgrades/decide/types/effects.ts";
import { NO_ANSWER, type ReconcileAnswer } from "../../lib/upgrades/decide/types/steps.ts";
import type { DeliveryRecord } from "../../lib/upgrades/outside/sinks/sink.ts";
import type { ReadContext, UpgradesDeps } from "./deps.ts";

export interface ApplyContext extends ReadContext {
  readonly setDesiredVersion: (version: string) => Promise<void>;
  readonly deliveries: DeliveryRecord;
}

export async function applyEffects(
  effects: readonly Effect[],
  deps: UpgradesDeps,
  context: ApplyContext,
): Promise<ReconcileAnswer> {
  const done: Effect[] = [];
  for (const effect of effects) {
    try {
      await applyEffect(effect, deps, context);
      done.push(effect);
    } catch (error) {
      context.signal.throwIfAborted();
      const failure = errorText(error);
      deps.log.warn("an effect failed", { effect: effect.kind, error: failure });
      if (effect.kind !== "notify" || effect.onFailure === "stop") return { ...NO_ANSWER, done, failure };
      // Nothing depends on this notification, so the log is enough.
      deps.gauges.set("upgrade_notification_failed", { event: effect.notification.state }, 0);
    }
  }
  return { ...NO_ANSWER, done };
}

async function applyEffect(effect: Effect, deps: UpgradesDeps, context: ApplyContext): Promise<void> {
  const { api, gauges, outside } = deps;
  const { facts, signal } = context;
  switch (effect.kind) {
    case "notify":
      if (facts === undefined) throw new Error("Cannot send a notification: there is no UpgradeConfig.");
      return await outside.notify(effect.notification, { ...facts, record: context.deliveries, signal });
    case "createSilence":
      return await outside.createSilence(effect.silence, signal);
    case "endSilence":
      return await outside.endSilence(effect.id, signal);
    case "patchClusterVersion":
      await patchClusterVersion(api, effect, signal);
      // Earlier failed notifications are not retried.
      return gauges.clear("upgrade_notification_failed");
    case "reserveCapacity":
      return await reserveCapacity(api, context);
    case "releaseCapacity":
      return await releaseCapacity(api, { drain: effect.drain, context });
    case "createSmokeMachine":
      return await createSmokeMachineSet(api, effect.template, signal);
    case "deleteSmokeMachine":
      return await deleteSmokeMachineSets(api, signal);
    case "annotateFileIntegrity":
      return await annotateFileIntegrity(api, signal);
    case "setDesiredVersion":
      return await context.setDesiredVersion(effect.version);
    case "setMetric":
      return gauges.set(effect.metric, effect.labels, effect.value);
    case "clearMetric":
      return gauges.clear(effect.metric);
    case "clearMetrics":
      return gauges.clearGroup(effect.group);
    default:
      return assertNever(effect);
  }
}

/** The patch has the decision's resourceVersion: if another client has changed the object, it is decided again. */
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

async function annotateFileIntegrity(api: KubeApi, signal: AbortSignal): Promise<void> {
  const document = { metadata: { annotations: { "file-integrity.openshift.io/re-init": "" } } };
  await api.patch(Resource.fileIntegrities, FILE_INTEGRITY, { body: { kind: "merge", document }, signal });
}
