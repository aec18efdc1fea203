// Upgrades of an OpenShift cluster by an UpgradeConfig: one plan, one reconcile at a time, and drains in parallel.
//
//   plan, ClusterVersion, pools ─▶ key ─▶ read plan, settings, ClusterVersion ─▶ decide (lib/upgrades, step by step)
//                                          ◀─ read more, carry effects out, write the status ─▶ events
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { OsImages } from "../../lib/upgrades/cluster/os_images.ts";
import { readInput, type UpgradeInput } from "../../lib/upgrades/cluster/plan_input.ts";
import { reconcile, wantsReconcile } from "../../lib/upgrades/decide/reconcile.ts";
import type { UpgradeStatus } from "../../lib/upgrades/decide/types/plan.ts";
import type { ReconcileEnd } from "../../lib/upgrades/decide/types/steps.ts";
import { openController, requeueAfter, type Runnable } from "../controller.ts";
import type { UpgradesDeps } from "./deps.ts";
import { DRAINS_MS, isUpgrading, openDrainRounds } from "./drain_rounds.ts";
import { openDrains } from "./drains.ts";
import { drive } from "./drive.ts";
import { openBackgroundAdvice } from "./background_advice.ts";
import type { Change } from "../../lib/k8s/object_cache.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import { Reflector, type ReflectorOptions } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { MachineName, Upgrades } from "../../lib/upgrades/names.ts";

const KEY = "upgrade";
const DRAINS_KEY = "drains";
const RESYNC_MS = 5 * 60_000;
const BACKOFF = { baseMs: 1_000, capMs: 60_000 } as const;

/** `seen`: the last input, with the status written since; undefined until this replica has led. */
export function openUpgrades(deps: UpgradesDeps): Runnable & { readonly seen: () => UpgradeInput | undefined } {
  const { clock, log, queueMetrics } = deps;
  const drains = openDrains(deps);
  const drainRounds = openDrainRounds(deps, { drains, onDue: () => controller.enqueue(DRAINS_KEY) });
  const osImages = new OsImages(deps.readApi);
  const advice = openBackgroundAdvice(deps.adviseOnWorkloads, () => controller.enqueue(KEY));
  let seen: UpgradeInput | undefined;
  const watches = [...openUpgradeWatches(deps, () => controller.enqueue(KEY)), advice];
  const reconcileUpgrade = async (signal: AbortSignal): Promise<ReconcileResult> => {
    const input = await readInput(deps, { nowMs: serverNowMs(clock, deps.readApi), signal });
    seen = input;
    drainRounds.follow(input);
    const { known: plan, facts, nowMs } = input;
    const isDrainForbidden = drains.isForbidden();
    const onWritten = (status: UpgradeStatus): void => {
      if (plan !== undefined) seen = { ...input, known: { ...plan, status } };
    };
    const end = await drive(reconcile({ ...input, isDrainForbidden }), deps, {
      ...{ plan, facts, osImages, nowMs, signal, onWritten },
      workloads: advice.sentences,
      notReadyNodes: drains.notReady,
    });
    return resultOf(end, isUpgrading(input));
  };
  const controller = openController({
    name: "upgrades",
    watches,
    firstKey: KEY,
    parallel: 2,
    queue: { backoff: BACKOFF },
    clock,
    log,
    queueMetrics,
    reconcile: async (key, signal) => await (key === KEY ? reconcileUpgrade(signal) : drainRounds.take(signal)),
  });
  return { run: controller.run, seen: () => seen };
}

function resultOf(end: ReconcileEnd, isUpgrading: boolean): ReconcileResult {
  const { requeueAfterMs } = end;
  // A failure without its own retry time is retried with backoff.
  if (end.kind === "failed" && requeueAfterMs === undefined) throw new Error(end.message);
  return requeueAfter(Math.min(requeueAfterMs ?? RESYNC_MS, isUpgrading ? DRAINS_MS : RESYNC_MS));
}

function openUpgradeWatches(
  { readApi: api, clock, log, namespace }: Pick<UpgradesDeps, "readApi" | "clock" | "log" | "namespace">,
  onChange: () => void,
): readonly Runnable[] {
  const watch = (
    resource: ResourceType,
    { wants = () => true, ...selection }: Pick<ReflectorOptions<KubeObject>, "namespace" | "fieldSelector"> & {
      readonly wants?: (change: Change<KubeObject>) => boolean;
    } = {},
  ): Runnable =>
    new Reflector<KubeObject>({
      api,
      resource,
      clock,
      log,
      name: resource.plural,
      parse: (object) => object,
      retain: RETENTION.upgrades,
      ...selection,
      onChange: (change) => wants(change) ? onChange() : undefined,
    });
  const plan = `metadata.name=${Upgrades.config}`;
  return [
    watch(Resource.upgradeConfigs, { namespace, fieldSelector: plan, wants: isOfOthers }),
    watch(Resource.clusterVersions),
    watch(Resource.machineConfigPools),
    watch(Resource.machineSets, { namespace: MachineName.namespace }),
  ];
}

/** False for a status write, which is the reconcile's own. */
function isOfOthers(change: Change<KubeObject>): boolean {
  if (change.kind === "delete" || change.previous === undefined) return true;
  return wantsReconcile({ before: change.previous, after: change.value });
}
