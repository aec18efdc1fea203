// Exec format errors: reports which container was to run a program of another architecture, and why.
//
//   daemon ─▶ ENoExecEvent ─┐
//                           ├─▶ pod, node, image ─▶ decide ─▶ label and event on the pod ─▶ record, repair
//   status of pods ─────────┘
//
// Keys: `event/NODE/NAME` for an ENoExecEvent of a node's daemon, `pod/NAMESPACE/NAME` for a pod whose status must be checked,
// `repair/…` for one that may have to be evicted.
import { KEPT } from "../../lib/k8s/kept.ts";
import type { Change } from "../../lib/k8s/object_cache.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { hasSuspectStatus, podOfEvent } from "../../lib/exec_format/decide/suspect.ts";
import type { Logger } from "../../lib/log.ts";
import { EnoexecAnnotation } from "../../lib/names.ts";
import { type Controller, openController, type Runnable } from "../controller.ts";
import { reconcilePod } from "./check_pod.ts";
import type { ExecFormatDeps, ExecFormatRun } from "./deps.ts";
import { dropEvent, reconcileEvent } from "./handle_event.ts";
import { Repairs } from "./repair.ts";
import { orAborted } from "../../lib/clock.ts";

/** Keys handled at a time: a report is three requests, and the leader has pods to place. */
const PARALLEL = 4;
/** A report is to be there within seconds, also after an API server or a Lease was away for a minute. */
const BACKOFF = { baseMs: 5, capMs: 5_000 } as const;

/** Users can create events for any number of pods. Pods beyond this many wait until the kubelet repeats its event. */
const MAX_KEYS_OF_NAMESPACE = 5_000;

/** More than a daemon writes in three minutes. Beyond it the events of a node are deleted unread. */
export const MAX_EVENTS_OF_NODE = 2_000;

export function openExecFormatMonitor(deps: ExecFormatDeps): Controller {
  const backlog = new EventBacklog(deps);
  const sinceMs = deps.clock.nowMs();
  const repairs = new Repairs(deps, (key) => controller.enqueue(`repair/${key}`));
  const controller: Controller = openController({
    ...deps,
    name: "exec-format-errors",
    watches: [
      whileWanted(watchEvents(deps, backlog, (key) => controller.enqueue(key)), deps),
      ...deps.settings.watchesPods ? watchPods(deps, (key) => controller.enqueue(key)) : [],
    ],
    parallel: PARALLEL,
    queue: { groupOf, maxOfGroup, backoff: BACKOFF },
    reconcile: async (key, signal) => {
      const [kind, ...rest] = key.split("/");
      const target = splitKey(rest.join("/"));
      const considerRepair: ExecFormatRun["considerRepair"] = (...failure) => repairs.consider(...failure);
      const run = { ...deps, considerRepair, signal };
      if (kind === "repair") return await repairs.reconcile(rest.join("/"), signal);
      if (kind === "pod") return await reconcilePod(run, target, sinceMs);
      // For an event the part before the name is its node.
      return await (backlog.isFull(target.namespace ?? "") ? dropEvent : reconcileEvent)(run, target.name);
    },
  });
  return controller;
}

/** Namespaces take turns, and nodes: pods of one, its slow registry, or its reports do not keep those of others waiting. */
function groupOf(key: string): string {
  const [kind = "", from = ""] = key.split("/");
  return kind === "event" ? `node ${from}` : from;
}

/** The backlog of a node has a limit of its own, beyond which events are deleted; that takes a key for each. */
function maxOfGroup(group: string): number {
  return group.startsWith("node ") ? Infinity : MAX_KEYS_OF_NAMESPACE;
}

/** The node whose daemon wrote it, which an admission policy has checked; empty for events of the MTO. */
function authorOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[EnoexecAnnotation.node] ?? "";
}

/** The ENoExecEvents, and the records of images among them: both expire. */
function watchEvents(
  { api, clock, log, settings }: ExecFormatDeps,
  backlog: EventBacklog,
  enqueue: (key: string) => void,
): Runnable {
  return new Reflector<string>({
    api,
    resource: Resource.enoexecEvents,
    namespace: settings.namespace,
    parse: authorOf,
    keep: KEPT.execFormatEvents,
    onChange: (change) => {
      backlog.note(change);
      if (change.kind === "apply") enqueue(`event/${change.value}/${splitKey(change.key).name}`);
    },
    clock,
    log,
    name: "ENoExecEvents",
  });
}

/** Kubelets report refused pulls and containers that keep ending as events; other pods end as failed. None is kept. */
function watchPods({ api, clock, log }: ExecFormatDeps, enqueue: (key: string) => void): readonly Runnable[] {
  const options = { api, clock, log };
  const reported = ["Failed", "BackOff"].map((reason) =>
    new Reflector<string>({
      ...options,
      resource: Resource.events,
      fieldSelector: `involvedObject.kind=Pod,type=Warning,reason=${reason}`,
      parse: podOfEvent,
      keep: KEPT.passing,
      onChange: ({ kind, value }) => kind === "apply" ? enqueue(`pod/${value}`) : undefined,
      name: `events ${reason}`,
    })
  );
  const failed = new Reflector<true>({
    ...options,
    resource: Resource.pods,
    fieldSelector: "status.phase=Failed",
    parse: (pod) => hasSuspectStatus(pod) || undefined,
    keep: KEPT.passing,
    onChange: ({ kind, key }) => kind === "apply" ? enqueue(`pod/${key}`) : undefined,
    name: "failed pods",
  });
  return [...reported, failed];
}

/** Counts the ENoExecEvents that wait, by node: what a node writes beyond its limit is deleted unread, and delays no other. */
export class EventBacklog {
  readonly #log: Logger;
  readonly #byNode = new Map<string, number>();

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log;
  }

  /** Takes a change of the watch; its value is the node. */
  note({ kind, value: node, ...change }: Change<string>): void {
    const before = this.#byNode.get(node) ?? 0;
    const isNew = kind === "apply" && !("previous" in change);
    const count = before + (isNew ? 1 : kind === "delete" ? -1 : 0);
    if (count > 0) this.#byNode.set(node, count);
    else this.#byNode.delete(node);
    if (count > before && count === MAX_EVENTS_OF_NODE + 1) {
      this.#log.warn("a node reports too many exec format errors: more are deleted unread", { node, count });
    }
  }

  /** Whether more events of the node wait than are handled. The MTO's events and records of images belong to no node. */
  isFull(node: string): boolean {
    return node !== "" && (this.#byNode.get(node) ?? 0) > MAX_EVENTS_OF_NODE;
  }
}

/** Runs `runnable` only while `isMonitored` holds: otherwise no request is sent to the API server. */
export function whileWanted(
  runnable: Runnable,
  { isMonitored, onChange }: Pick<ExecFormatDeps, "isMonitored" | "onChange">,
): Runnable {
  let changed = Promise.withResolvers<void>();
  onChange(() => {
    changed.resolve();
    changed = Promise.withResolvers();
  });
  return {
    run: async (signal) => {
      const nextChange = (): Promise<void> => orAborted(changed.promise, signal).catch(() => {});
      while (!signal.aborted) {
        if (!isMonitored()) {
          await nextChange();
          continue;
        }
        const turn = new AbortController();
        const running = runnable.run(AbortSignal.any([signal, turn.signal]));
        while (isMonitored() && !signal.aborted) await nextChange();
        turn.abort();
        await running;
      }
    },
  };
}
