// The exec format error monitor in the cluster: its DaemonSet, and the ENoExecEvents left after its removal.
import { isMissingOrForbidden } from "../../lib/k8s/api_error.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { ignoring, readOptional } from "../../lib/k8s/api.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { type EnoexecState, parseEnoexecState } from "../../lib/exec_format/decide/enoexec_event.ts";
import { objectAt } from "../../lib/json.ts";
import { errorText } from "../../lib/log.ts";
import { ExecFormatMonitor, Finalizer } from "../../lib/names.ts";
import type { MonitorState } from "../../lib/operator/decide/conditions.ts";
import type { OperandConfig } from "../../lib/operator/decide/config_view.ts";
import { renderDaemonSet } from "../../lib/operator/cluster/exec_format_daemon_set.ts";
import type { InstallationState, MonitorFacts } from "../../lib/operator/decide/operand_step.ts";
import { isCovered } from "../../lib/operator/cluster/monitoring.ts";
import type { OperatorRun } from "./deps.ts";
import { readOwnDeployment } from "./finalizers.ts";
import { recordConfigEvent } from "./report.ts";

interface ObservedMonitor {
  readonly facts: MonitorFacts;
  readonly state: MonitorState | undefined;
}

/** Pause after a refused request (ms). */
const REFUSED_MS = 60_000;
const NAME = ExecFormatMonitor.daemon;

const UNREAD: MonitorFacts = {
  daemonSet: "unread",
  ownDeployment: "foreign",
  hasImage: false,
  handledEvents: 0,
  pendingEvents: 0,
  leavingForMs: 0,
  isForced: false,
};

/** Reads the monitor, except in an uninstall, when only the rights to uninstall remain. */
export async function readMonitor(
  run: OperatorRun,
  config: OperandConfig | undefined,
  installation: InstallationState,
): Promise<ObservedMonitor> {
  const mayBeHeld = run.settings.execFormatImage !== undefined || isHeldBy(config);
  const { facts, state } = await readDaemonSetAndEvents(run, config, installation);
  const ownDeployment = mayBeHeld ? await readOwnDeployment(run, installation) : facts.ownDeployment;
  return { facts: { ...facts, ownDeployment }, state };
}

function isHeldBy(config: OperandConfig | undefined): boolean {
  return config?.finalizers.includes(Finalizer.enoexecEvents) === true;
}

async function readDaemonSetAndEvents(
  run: OperatorRun,
  config: OperandConfig | undefined,
  installation: InstallationState,
): Promise<ObservedMonitor> {
  const { memory } = run;
  const isUninstalling = installation === "uninstalling";
  const isWanted = config?.monitorsExecFormat === true && config.deletingSinceMs === undefined && !isUninstalling;
  if (!isWanted) memory.monitorRefused = undefined;
  if (config === undefined || !isHeldBy(config) && !isWanted) return { facts: UNREAD, state: undefined };
  if (isUninstalling) {
    return { facts: { ...UNREAD, daemonSet: memory.isMonitorRemoved ? "absent" : "current" }, state: undefined };
  }
  const live = await readDaemonSet(run);
  if (isWanted) return observeWanted(run, config, live);
  const nowMs = run.clock.monotonicMs();
  memory.monitorLeavingSinceMs ??= nowMs;
  const all = await listEvents(run);
  const handledEvents = all.filter(({ isHandled }) => isHandled).length;
  const pendingEvents = all.length - handledEvents;
  const facts: MonitorFacts = {
    ...UNREAD,
    handledEvents,
    pendingEvents,
    daemonSet: live === undefined ? "absent" : isDeleting(live) ? "deleting" : "current",
    leavingForMs: nowMs - memory.monitorLeavingSinceMs,
    isForced: memory.isMonitorForced,
  };
  return { facts, state: { kind: "leaving", pendingEvents } };
}

function observeWanted(
  { settings, clock, memory }: OperatorRun,
  config: OperandConfig,
  live: KubeObject | undefined,
): ObservedMonitor {
  memory.monitorLeavingSinceMs = undefined;
  memory.isMonitorForced = false;
  const { namespace, execFormatImage: image } = settings;
  if (image === undefined) return { facts: UNREAD, state: { kind: "no-image" } };
  const { monitorRefused: refused } = memory;
  const isRefused = refused !== undefined && clock.monotonicMs() - refused.atMs < REFUSED_MS;
  const desired = renderDaemonSet(config, { namespace, image });
  const daemonSet = isRefused ? "refused" : compare(live, desired);
  const state: MonitorState = isRefused
    ? { kind: "refused", why: refused.why }
    : { kind: "installed", ...readyOf(live) };
  return { facts: { ...UNREAD, daemonSet, hasImage: true }, state };
}

function compare(live: KubeObject | undefined, desired: KubeObject): MonitorFacts["daemonSet"] {
  if (live === undefined) return "absent";
  if (isDeleting(live)) return "deleting";
  return isCovered(live, desired) ? "current" : "drifted";
}

function readyOf(live: KubeObject | undefined): { readonly ready: number; readonly wanted: number } {
  const status = live === undefined ? undefined : objectAt(live, "status");
  const count = (name: string): number => Number(status?.[name] ?? 0);
  return { ready: count("numberReady"), wanted: count("desiredNumberScheduled") };
}

function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** An unreadable DaemonSet is not ours. */
async function readDaemonSet({ api, settings, signal }: OperatorRun): Promise<KubeObject | undefined> {
  const wanted = { type: Resource.daemonSets, namespace: settings.namespace, name: NAME, signal };
  return await ignoring(isMissingOrForbidden, readOptional(api, wanted));
}

async function listEvents({ api, settings: { namespace }, signal }: OperatorRun): Promise<readonly EnoexecState[]> {
  const all = Array.fromAsync(listAll(api, Resource.enoexecEvents, { namespace, signal }), parseEnoexecState);
  const events = await ignoring(isMissingOrForbidden, all) ?? [];
  // By name, because a restarted list repeats events.
  return [...new Map(events.map((event) => [event.name, event])).values()];
}

/** Creates or corrects the DaemonSet. Pods are placed without it, so a refusal is only kept for the condition. */
export async function applyMonitor(run: OperatorRun, config: OperandConfig): Promise<void> {
  const { api, settings: { namespace, execFormatImage: image = "" }, log, clock, memory, signal } = run;
  const document = renderDaemonSet(config, { namespace, image });
  const words = `DaemonSet.apps/${NAME} -n ${namespace}`;
  try {
    const live = await readDaemonSet(run);
    const body = { kind: "apply", document } as const;
    await api.patch(Resource.daemonSets, { namespace, name: NAME }, { body, signal });
    const [verb, why] = live === undefined ? ["Created", "it was missing"] : ["Updated", "it changed"];
    const message = `${verb.toLowerCase()} ${words} because ${why}`;
    recordConfigEvent(run, { type: "Normal", reason: `DaemonSet${verb}`, message });
    log.info("exec format error monitor applied", { reason: why });
  } catch (error) {
    if (signal.aborted) throw error;
    const why = errorText(error);
    memory.monitorRefused = { atMs: clock.monotonicMs(), why };
    const message = `failed to apply ${words}: ${why}`;
    recordConfigEvent(run, { type: "Warning", reason: "DaemonSetCreateFailed", message });
    log.warn("exec format error monitor not applied: is its component installed?", { error: why });
  }
}

/** Deletes the DaemonSet, unless it is gone or not ours. */
export async function removeMonitor(
  { api, settings: { namespace }, log, memory, signal }: OperatorRun,
): Promise<void> {
  await ignoring(isMissingOrForbidden, api.delete(Resource.daemonSets, { namespace, name: NAME }, { signal }));
  memory.isMonitorRemoved = true;
  log.info("exec format error monitor removed");
}

export async function removeEvents(run: OperatorRun, which: "handled" | "all"): Promise<void> {
  const { api, settings: { namespace }, log, memory, signal } = run;
  const events = (await listEvents(run)).filter(({ isHandled }) => which === "all" || isHandled);
  for (const { name } of events) {
    await ignoring(isMissingOrForbidden, api.delete(Resource.enoexecEvents, { namespace, name }, { signal }));
  }
  if (which === "all") memory.isMonitorForced = true;
  log.info("ENoExecEvents removed", { which, events: events.length });
}
