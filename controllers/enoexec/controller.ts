// Exec format errors: reports which container was to run a program of another architecture, and why.
//
//   daemon ─▶ ENoExecEvent ─┐
//                           ├─▶ pod, node, image ─▶ decide ─▶ label and event on the pod ─▶ record, repair
//   status of pods ─────────┘
//
// Keys: `event/NODE/NAME` for an ENoExecEvent of a node's daemon, `pod/NAMESPACE/NAME` for a pod whose status must be checked,
// `repair/…` for one that may have to be evicted.
import { openReflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { podOfEvent } from "../../lib/enoexec/event_pod.ts";
import { hasEnded } from "../../lib/enoexec/suspect.ts";
import { EnoexecAnnotation } from "../../lib/names.ts";
import { type Controller, openController } from "../controller.ts";
import { EventBacklog } from "./backlog.ts";
import type { ExecFormatDeps } from "./deps.ts";
import { type EventToHandle, reconcileEvent } from "./handle_event.ts";
import { reconcilePod } from "./check_pod.ts";
import { openRepairs } from "./repair.ts";
import { whileWanted } from "./while_wanted.ts";

/** Containers checked at a time: a report is three requests, and the leader has pods to place. */
const PARALLEL = 4;
/** A report is to be there within seconds, also after an API server or a Lease was away for a minute. */
const BACKOFF = { baseMs: 5, capMs: 5_000 } as const;

/** Whoever may create events in a namespace can name as many pods: the rest of them is left until the kubelet repeats its event. */
const MAX_KEYS_OF_NAMESPACE = 5_000;

/** Makes the controller. No request is sent to the API server before `run`. */
export function openExecFormatMonitor(deps: ExecFormatDeps): Controller {
  const backlog = new EventBacklog(deps);
  const sinceMs = deps.clock.nowMs();
  const repairs = openRepairs(deps, (key) => controller.enqueue(`repair/${key}`));
  const controller: Controller = openController({
    name: "exec-format-errors",
    watches: [
      whileWanted(watchEvents(deps, { backlog, enqueue: (key) => controller.enqueue(key) }), deps),
      ...deps.settings.watchesPods ? watchPods(deps, (key) => controller.enqueue(key)) : [],
    ],
    parallel: PARALLEL,
    queue: { groupOf, maxOfGroup, backoff: BACKOFF },
    clock: deps.clock,
    log: deps.log,
    queueMetrics: deps.queueMetrics,
    reconcile: async (key, signal) => {
      const [kind, ...rest] = key.split("/");
      const name = rest.join("/");
      if (kind === "event") return await reconcileEvent(deps, eventOf(name, backlog), { repairs, signal });
      if (kind === "repair") return await repairs.reconcile(name, signal);
      return await reconcilePod(deps, splitKey(name), { repairs, sinceMs, signal });
    },
  });
  return controller;
}

/** Namespaces take turns, and nodes: pods of one, its slow registry, or its reports do not keep those of others waiting. */
function groupOf(key: string): string {
  const [kind = "", from = ""] = key.split("/");
  return kind === "event" ? `node ${from}` : from;
}

/** The backlog of a node has a bound of its own: what is beyond it is deleted, which takes a key. */
function maxOfGroup(group: string): number {
  return group.startsWith("node ") ? Infinity : MAX_KEYS_OF_NAMESPACE;
}

/** The event of a key without its kind. */
function eventOf(key: string, backlog: EventBacklog): EventToHandle {
  const { namespace: node = "", name } = splitKey(key);
  return { name, isTooMany: backlog.isFull(node) };
}

/** Who wrote it, as the admission policy holds it against a daemon; empty for those of the MTO. */
function authorOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[EnoexecAnnotation.node] ?? "";
}

type Watch = { run(signal: AbortSignal): Promise<void> };

/** The ENoExecEvents, and the records of images among them: both grow old. */
function watchEvents(
  { api, clock, log, settings }: ExecFormatDeps,
  { backlog, enqueue }: { readonly backlog: EventBacklog; readonly enqueue: (key: string) => void },
): Watch {
  return openReflector<string>({
    api,
    resource: Resource.enoexecEvents,
    namespace: settings.namespace,
    parse: authorOf,
    onChange: (change) => {
      backlog.note(change);
      if (change.kind === "apply") enqueue(`event/${change.value}/${splitKey(change.key).name}`);
    },
    clock,
    log,
    name: "ENoExecEvents",
  });
}

/**
 * Pods to check, without watching all pods of the cluster: kubelets report a refused pull and a container that keeps
 * ending as events, and a pod that is not started again ends as failed. None of these objects is kept: whoever may create
 * events decides how many there are. After a new list their pods are checked again, which reports nothing twice.
 */
function watchPods({ api, clock, log }: ExecFormatDeps, enqueue: (key: string) => void): readonly Watch[] {
  const options = { api, clock, log, keep: { kind: "nothing" } } as const;
  const reported = ["Failed", "BackOff"].map((reason) =>
    openReflector<string>({
      ...options,
      resource: Resource.events,
      fieldSelector: `involvedObject.kind=Pod,type=Warning,reason=${reason}`,
      parse: podOfEvent,
      onChange: ({ kind, value }) => kind === "apply" ? enqueue(`pod/${value}`) : undefined,
      name: `events ${reason}`,
    })
  );
  const failed = openReflector<true>({
    ...options,
    resource: Resource.pods,
    fieldSelector: "status.phase=Failed",
    parse: (pod) => hasEnded(pod) || undefined,
    onChange: ({ kind, key }) => kind === "apply" ? enqueue(`pod/${key}`) : undefined,
    name: "failed pods",
  });
  return [...reported, failed];
}
