// One ENoExecEvent: read pod and node, decide, carry out. What was handled is deleted; nothing stays for ever.
import { serverNowMs } from "../../lib/k8s/api.ts";
import { isNotFound } from "../../lib/k8s/errors.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { decideEvent, type EventError, type EventVerdict } from "../../lib/enoexec/decide_event.ts";
import { type EventView, parseEvent } from "../../lib/enoexec/event.ts";
import { FAILED_TTL_MS, isFailedImage, parseFailedImage } from "../../lib/enoexec/failed_image.ts";
import { errorText } from "../../lib/log.ts";
import { EnoexecLabel } from "../../lib/names.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatDeps } from "./deps.ts";
import type { Repairs } from "./repair.ts";
import { reportFailure } from "./report.ts";

/** An event to bring to its end. */
export interface EventToHandle {
  readonly name: string;
  /** Its node has too many waiting: it is deleted unread. */
  readonly isTooMany: boolean;
}

/** What an event is handled with. */
export interface HandleOptions {
  readonly repairs: Repairs;
  readonly signal: AbortSignal;
}

/** Handles one event, or returns when to check it again. A thrown error means: again, after a backoff. */
export async function reconcileEvent(
  deps: ExecFormatDeps,
  { name, isTooMany }: EventToHandle,
  { repairs, signal }: HandleOptions,
): Promise<ReconcileResult> {
  const { api, clock, metrics, settings: { namespace } } = deps;
  if (isTooMany) {
    if (await remove(deps, { name }, signal)) metrics.execFormatEvent("invalid");
    return DONE;
  }
  const object = await readOptional(api, { type: Resource.enoexecEvents, namespace, name, signal });
  if (object === undefined) return DONE;
  if (isFailedImage(object)) return await forget(deps, object, signal);
  const event = parseEvent(object);
  try {
    const { pod, node } = await readSubjects(deps, event, signal);
    const ageMs = serverNowMs(clock, api) - event.createdAtMs;
    const verdict = decideEvent({ event, pod, node, ageMs });
    return await carryOut(deps, { event, pod, verdict }, { repairs, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    metrics.execFormatEvent("invalid");
    await mark(deps, event, { error: "reconciliation-error", signal }).catch((fault: unknown) => {
      deps.log.debug("event not marked", { event: name, error: errorText(fault) });
    });
    throw error;
  }
}

async function readSubjects(
  { api }: ExecFormatDeps,
  { podNamespace, podName, nodeName }: EventView,
  signal: AbortSignal,
): Promise<{ readonly pod: KubeObject | undefined; readonly node: KubeObject | undefined }> {
  if (podName === "" || podNamespace === "") return { pod: undefined, node: undefined };
  const [pod, node] = await Promise.all([
    readOptional(api, { type: Resource.pods, namespace: podNamespace, name: podName, signal }),
    nodeName === "" ? undefined : readOptional(api, { type: Resource.nodes, name: nodeName, signal }),
  ]);
  return { pod, node };
}

async function carryOut(
  deps: ExecFormatDeps,
  { event, pod, verdict }: {
    readonly event: EventView;
    readonly pod: KubeObject | undefined;
    readonly verdict: EventVerdict;
  },
  { repairs, signal }: HandleOptions,
): Promise<ReconcileResult> {
  switch (verdict.kind) {
    case "leave":
      return DONE;
    case "wait":
      return requeueAfter(verdict.afterMs);
    case "keep":
      await mark(deps, event, { error: verdict.error, signal });
      return requeueAfter(verdict.afterMs);
    case "expire":
      await remove(deps, event, signal);
      return DONE;
    case "dismiss":
      return await finish(deps, event, { error: verdict.error, signal });
    case "report": {
      if (pod === undefined) return DONE;
      const { container, architecture } = verdict;
      const { command, isEntryPoint } = event;
      const seen = { pod, container, architecture, refused: "start", command, source: "kernel", isEntryPoint } as const;
      const outcome = await reportFailure(deps, { ...seen, isCertain: true, wasReported: false }, { repairs, signal });
      return await finish(deps, event, { error: outcome === "gone" ? "pod-not-found" : undefined, signal });
    }
    default:
      return unreachable(verdict);
  }
}

/** Deletes a handled event. The mark is for those that something else holds: they stay to be read. */
async function finish(
  deps: ExecFormatDeps,
  event: EventView,
  { error, signal }: { readonly error: EventError | undefined; readonly signal: AbortSignal },
): Promise<ReconcileResult> {
  if (error !== undefined && event.isHeld) await mark(deps, event, { error, signal });
  if (await remove(deps, event, signal)) deps.metrics.execFormatEvent("handled");
  return DONE;
}

async function mark(
  { api, settings: { namespace } }: ExecFormatDeps,
  event: EventView,
  { error, signal }: { readonly error: EventError; readonly signal: AbortSignal },
): Promise<void> {
  if (event.error === error) return;
  const document = { metadata: { labels: { [EnoexecLabel.error]: error } } };
  try {
    await api.patch(Resource.enoexecEvents, { namespace, name: event.name }, {
      body: { kind: "merge", document },
      signal,
    });
  } catch (fault) {
    if (!isNotFound(fault)) throw fault;
  }
}

/** Whether it was there. */
async function remove(
  { api, settings: { namespace } }: ExecFormatDeps,
  { name }: Pick<EventView, "name">,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.delete(Resource.enoexecEvents, { namespace, name }, { signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** A record of an image: deleted when it has decayed, or cannot be read. */
async function forget(deps: ExecFormatDeps, object: KubeObject, signal: AbortSignal): Promise<ReconcileResult> {
  const record = parseFailedImage(object);
  const leftMs = record === undefined ? 0 : record.atMs + FAILED_TTL_MS - deps.clock.nowMs();
  if (leftMs > 0) return requeueAfter(leftMs);
  await remove(deps, object.metadata, signal);
  return DONE;
}
