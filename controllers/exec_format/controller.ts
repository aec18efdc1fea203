// Exec format errors: reports which container tried to run a program of another architecture, and why.
//
//   daemon ─▶ ENoExecEvent ─┐
//                           ├─▶ pod, node, image ─▶ decide ─▶ label and event on the pod ─▶ record, repair
//   status of pods ─────────┘
//
// Keys: `event/NODE/NAME` for an ENoExecEvent of a node's daemon, `pod/NAMESPACE/NAME` for a pod status to check,
// `repair/…` for a pod that may need eviction.
import { RETENTION } from "../../lib/k8s/retention.ts";
import type { Change } from "../../lib/k8s/object_cache.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { hasSuspectStatus, podOfEvent } from "../../lib/exec_format/decide/suspect.ts";
import type { Logger } from "../../lib/log.ts";
import { EnoexecAnnotation } from "../../lib/names.ts";
import { type Controller, openController, type Runnable } from "../controller.ts";
import { reconcilePod } from "./check_pod.ts";
import type { ExecFormatDeps, ExecFormatRun } from "./deps.ts";
import { dropEnoexecEvent, reconcileEnoexecEvent } from "./handle_enoexec_event.ts";
import { Repairs } from "./repair.ts";
import { orAborted } from "../../lib/clock.ts";

/** Parallel keys: a report is three requests, and the leader must also place pods. */
const PARALLEL = 4;
/** Short, so that reports follow within seconds even after a minute without API server or Lease. */
const BACKOFF = { baseMs: 5, capMs: 5_000 } as const;

/** Users can create events for any number of pods. Further pods wait until the kubelet repeats its event. */
const MAX_KEYS_OF_NAMESPACE = 5_000;

/** A node's waiting events beyond this are deleted unread: it is more than a daemon writes in three minutes. */
export const MAX_EVENTS_OF_NODE = 2_000;

export function openExecFormatController(deps: ExecFormatDeps): Controller {
  const backlog = new EventBacklog(deps);
  const sinceMs = deps.clock.nowMs();
  const repairs = new Repairs(deps, (key) => controller.enqueue(`repair/${key}`));
  const controller: Controller = openController({
    ...deps,
    name: "exec-format-errors",
    watches: [
      whileWanted(watchEvents(deps, backlog, (key) => controller.enqueue(key)), {
        isWanted: deps.isMonitored,
        onChange: deps.onChange,
      }),
      ...deps.settings.watchesPods ? watchPods(deps, (key) => controller.enqueue(key)) : [],
    ],
    parallel: PARALLEL,
    queue: { flowOf, maxOfFlow, backoff: BACKOFF },
    reconcile: async (key, signal) => {
      const [kind, ...rest] = key.split("/");
      const target = splitKey(rest.join("/"));
      const considerRepair: ExecFormatRun["considerRepair"] = (...failure) => repairs.consider(...failure);
      const run = { ...deps, considerRepair, signal };
      if (kind === "repair") return await repairs.reconcile(rest.join("/"), signal);
      if (kind === "pod") return await reconcilePod(run, target, sinceMs);
      // For an event, the part before the name is the node.
      const handle = backlog.isFull(target.namespace ?? "") ? dropEnoexecEvent : reconcileEnoexecEvent;
      return await handle(run, target.name);
    },
  });
  return controller;
}

/** Namespaces and nodes take turns, so that pods, slow registries or reports of one do not delay the others. */
function flowOf(key: string): string {
  const [kind = "", from = ""] = key.split("/");
  return kind === "event" ? `node ${from}` : from;
}

/** Keys of a node are unlimited: its backlog has a limit, and each event beyond that is deleted by its key. */
function maxOfFlow(flow: string): number {
  return flow.startsWith("node ") ? Infinity : MAX_KEYS_OF_NAMESPACE;
}

/** The node whose daemon wrote the event, verified by an admission policy; empty for the MTO's events. */
function authorOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[EnoexecAnnotation.node] ?? "";
}

/** Watches ENoExecEvents and, among them, records of images. Both expire. */
function watchEvents(deps: ExecFormatDeps, backlog: EventBacklog, enqueue: (key: string) => void): Runnable {
  return new Reflector<string>({
    ...deps,
    resource: Resource.enoexecEvents,
    namespace: deps.settings.namespace,
    parse: authorOf,
    retain: RETENTION.execFormatEvents,
    onChange: (change) => {
      backlog.note(change);
      if (change.kind === "apply") enqueue(`event/${change.value}/${splitKey(change.key).name}`);
    },
    name: "ENoExecEvents",
  });
}

/** Watches the kubelets' events about refused pulls and crash loops, and failed pods. Keeps none of these objects. */
function watchPods(deps: ExecFormatDeps, enqueue: (key: string) => void): readonly Runnable[] {
  const reported = ["Failed", "BackOff"].map((reason) =>
    new Reflector<string>({
      ...deps,
      resource: Resource.events,
      fieldSelector: `involvedObject.kind=Pod,type=Warning,reason=${reason}`,
      parse: podOfEvent,
      retain: RETENTION.unkept,
      onChange: ({ kind, value }) => kind === "apply" ? enqueue(`pod/${value}`) : undefined,
      name: `events ${reason}`,
    })
  );
  const failed = new Reflector<true>({
    ...deps,
    resource: Resource.pods,
    fieldSelector: "status.phase=Failed",
    parse: (pod) => hasSuspectStatus(pod) || undefined,
    retain: RETENTION.unkept,
    onChange: ({ kind, key }) => kind === "apply" ? enqueue(`pod/${key}`) : undefined,
    name: "failed pods",
  });
  return [...reported, failed];
}

/** Counts waiting ENoExecEvents by node. Those beyond a node's limit are deleted unread and delay no other node. */
export class EventBacklog {
  readonly #log: Logger;
  readonly #byNode = new Map<string, number>();

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log;
  }

  /** Handles a change of the watch, whose value is the node. */
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

  /** Whether a node's waiting events exceed its limit. The MTO's events and records of images belong to no node. */
  isFull(node: string): boolean {
    return node !== "" && (this.#byNode.get(node) ?? 0) > MAX_EVENTS_OF_NODE;
  }
}

/** Runs `runnable` only while `isWanted`. Otherwise it sends no request to the API server. */
export function whileWanted(
  runnable: Runnable,
  { isWanted, onChange }: Pick<ExecFormatDeps, "onChange"> & { readonly isWanted: () => boolean },
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
        if (!isWanted()) {
          await nextChange();
          continue;
        }
        const turn = new AbortController();
        const running = runnable.run(AbortSignal.any([signal, turn.signal]));
        while (isWanted() && !signal.aborted) await nextChange();
        turn.abort();
        await running;
      }
    },
  };
}
