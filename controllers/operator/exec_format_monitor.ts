// The exec format error monitor in the cluster: its DaemonSet, and the ENoExecEvents that are left when it goes. Asked for
// only while its plugin is on or its finalizer is there; a right that its component would grant may be missing.
import { isForbidden, isNotFound } from "../../lib/k8s/errors.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { type EventState, parseEventState } from "../../lib/enoexec/event.ts";
import { objectAt } from "../../lib/json.ts";
import { errorText } from "../../lib/log.ts";
import { ExecFormatMonitor, Finalizer } from "../../lib/names.ts";
import type { MonitorState } from "../../lib/operand/conditions.ts";
import type { OperandConfig } from "../../lib/operand/config_view.ts";
import { renderDaemonSet } from "../../lib/operand/exec_format_daemon_set.ts";
import type { MonitorFacts } from "../../lib/operand/operand_step.ts";
import { isCovered } from "../../lib/operand/monitoring.ts";
import type { OperatorDeps } from "./deps.ts";
import { recordConfigEvent } from "./events.ts";
import { readHandler } from "./handler.ts";
import type { Memory } from "./memory.ts";

/** The facts, and what is to be said of them. */
export interface ObservedMonitor {
  readonly facts: MonitorFacts;
  readonly state: MonitorState | undefined;
}

/** A request that was refused is not repeated before this (ms). */
const REFUSED_MS = 60_000;
const NAME = ExecFormatMonitor.daemon;

const UNREAD: MonitorFacts = {
  daemonSet: "unread",
  handler: "foreign",
  hasImage: false,
  settledEvents: 0,
  pendingEvents: 0,
  leavingForMs: 0,
  isForced: false,
};

interface MonitorReading {
  readonly memory: Memory;
  readonly isUninstalling: boolean;
  readonly signal: AbortSignal;
}

/** Checks the monitor. `isUninstalling`: only the rights for leaving are left, and nothing is read. */
export async function readMonitor(
  deps: OperatorDeps,
  config: OperandConfig | undefined,
  reading: MonitorReading,
): Promise<ObservedMonitor> {
  const mayBeHeld = deps.settings.execFormatImage !== undefined ||
    config?.finalizers.includes(Finalizer.enoexecEvents) === true;
  const { facts, state } = await readDaemonSetAndEvents(deps, config, reading);
  const handler = mayBeHeld ? await readHandler(deps, reading) : facts.handler;
  return { facts: { ...facts, handler }, state };
}

async function readDaemonSetAndEvents(
  deps: OperatorDeps,
  config: OperandConfig | undefined,
  { memory, isUninstalling, signal }: MonitorReading,
): Promise<ObservedMonitor> {
  const isHeld = config?.finalizers.includes(Finalizer.enoexecEvents) === true;
  const isWanted = config?.enoexecEnabled === true && config.deletingSinceMs === undefined && !isUninstalling;
  if (!isWanted) memory.monitorRefused = undefined;
  if (config === undefined || !isHeld && !isWanted) return { facts: UNREAD, state: undefined };
  if (isUninstalling) {
    return { facts: { ...UNREAD, daemonSet: memory.monitorRemoved ? "absent" : "current" }, state: undefined };
  }
  const live = await readDaemonSet(deps, signal);
  if (isWanted) return installing(deps, { config, live, memory });
  const nowMs = deps.clock.monotonicMs();
  memory.monitorLeavingSinceMs ??= nowMs;
  const events = await countEvents(deps, signal);
  const facts: MonitorFacts = {
    ...UNREAD,
    ...events,
    daemonSet: live === undefined ? "absent" : isLeaving(live) ? "leaving" : "current",
    leavingForMs: nowMs - memory.monitorLeavingSinceMs,
    isForced: memory.monitorForced,
  };
  return { facts, state: { kind: "leaving", pendingEvents: events.pendingEvents } };
}

function installing(
  { settings, clock }: OperatorDeps,
  { config, live, memory }: {
    readonly config: OperandConfig;
    readonly live: KubeObject | undefined;
    readonly memory: Memory;
  },
): ObservedMonitor {
  memory.monitorLeavingSinceMs = undefined;
  memory.monitorForced = false;
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
  if (isLeaving(live)) return "leaving";
  return isCovered(live, desired) ? "current" : "drifted";
}

function readyOf(live: KubeObject | undefined): { readonly ready: number; readonly wanted: number } {
  const status = live === undefined ? undefined : objectAt(live, "status");
  const count = (name: string): number => Number(status?.[name] ?? 0);
  return { ready: count("numberReady"), wanted: count("desiredNumberScheduled") };
}

function isLeaving({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** One that we may not read is none of ours. */
async function readDaemonSet({ api, settings }: OperatorDeps, signal: AbortSignal): Promise<KubeObject | undefined> {
  const wanted = { type: Resource.daemonSets, namespace: settings.namespace, name: NAME, signal };
  return await unlessForbidden(() => readOptional(api, wanted));
}

async function countEvents(
  deps: OperatorDeps,
  signal: AbortSignal,
): Promise<Pick<MonitorFacts, "settledEvents" | "pendingEvents">> {
  const events = await listEvents(deps, signal);
  const settledEvents = events.filter(({ isSettled }) => isSettled).length;
  return { settledEvents, pendingEvents: events.length - settledEvents };
}

async function listEvents({ api, settings }: OperatorDeps, signal: AbortSignal): Promise<readonly EventState[]> {
  const { namespace } = settings;
  const all = await unlessForbidden(async () => {
    // By name: a list that starts over gives an event twice.
    const events = new Map<string, EventState>();
    for await (const object of listAll(api, Resource.enoexecEvents, { namespace, signal })) {
      const event = parseEventState(object);
      events.set(event.name, event);
    }
    return [...events.values()];
  });
  return all ?? [];
}

async function unlessForbidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Makes the DaemonSet, or sets it right. A refusal is kept for the condition: pods are placed without it. */
export async function applyMonitor(
  deps: OperatorDeps,
  config: OperandConfig,
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  const { api, settings: { namespace, execFormatImage: image = "" }, log, clock } = deps;
  const document = renderDaemonSet(config, { namespace, image });
  const words = `DaemonSet.apps/${NAME} -n ${namespace}`;
  try {
    const live = await readDaemonSet(deps, signal);
    const body = { kind: "apply", document, force: true } as const;
    await api.patch(Resource.daemonSets, { namespace, name: NAME }, { body, signal });
    const [verb, why] = live === undefined ? ["created", "it was missing"] : ["updated", "it changed"];
    const reason = `DaemonSet${live === undefined ? "Created" : "Updated"}`;
    recordConfigEvent(deps, { type: "Normal", reason, message: `${verb} ${words} because ${why}` });
    log.info("exec format error monitor applied", { reason: why });
  } catch (error) {
    if (signal.aborted) throw error;
    const why = errorText(error);
    memory.monitorRefused = { atMs: clock.monotonicMs(), why };
    recordConfigEvent(deps, {
      type: "Warning",
      reason: "DaemonSetCreateFailed",
      message: `failed to apply ${words}: ${why}`,
    });
    log.warn("exec format error monitor not applied: is its component installed?", { error: why });
  }
}

/** Deletes the DaemonSet. That it is gone, or not ours to delete, is fine. */
export async function removeMonitor(
  { api, settings: { namespace }, log }: OperatorDeps,
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<void> {
  await unlessForbidden(() => api.delete(Resource.daemonSets, { namespace, name: NAME }, { signal }));
  memory.monitorRemoved = true;
  log.info("exec format error monitor removed");
}

/** Deletes events: those that are settled, or all. */
export async function removeEvents(
  deps: OperatorDeps,
  { which, memory, signal }: {
    readonly which: "settled" | "all";
    readonly memory: Memory;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { api, settings: { namespace }, log } = deps;
  const events = (await listEvents(deps, signal)).filter(({ isSettled }) => which === "all" || isSettled);
  for (const { name } of events) {
    await unlessForbidden(() => api.delete(Resource.enoexecEvents, { namespace, name }, { signal }));
  }
  if (which === "all") memory.monitorForced = true;
  log.info("ENoExecEvents removed", { which, events: events.length });
}
