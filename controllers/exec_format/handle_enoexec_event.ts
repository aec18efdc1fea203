// One ENoExecEvent: reads pod and node, decides, applies. Handled events are deleted; none stays forever.
import { ignoring, readOptional, serverNowMs } from "../../lib/k8s/api.ts";
import {
  decideEnoexecEvent,
  type EnoexecDecision,
  type EnoexecError,
} from "../../lib/exec_format/decide/decide_enoexec_event.ts";
import { type EnoexecEvent, parseEnoexecEvent } from "../../lib/exec_format/decide/enoexec_event.ts";
import { FAILED_TTL_MS, isFailedImage, parseFailedImage } from "../../lib/exec_format/decide/failed_image.ts";
import { isNotFound } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { EnoexecLabel } from "../../lib/names.ts";
import { assertNever } from "../../lib/parsed.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatRun } from "./deps.ts";
import { reportFailure } from "./report.ts";

export async function reconcileEnoexecEvent(run: ExecFormatRun, name: string): Promise<ReconcileResult> {
  const { api, clock, metrics, log, signal, settings: { namespace } } = run;
  const object = await readOptional(api, { type: Resource.enoexecEvents, namespace, name, signal });
  if (object === undefined) return DONE;
  if (isFailedImage(object)) return await forget(run, object);
  const event = parseEnoexecEvent(object);
  try {
    const [pod, node] = await readSubjects(run, event);
    const ageMs = serverNowMs(clock, api) - event.createdAtMs;
    return await applyDecision(run, event, decideEnoexecEvent({ event, pod, node, ageMs }));
  } catch (error) {
    if (signal.aborted) throw error;
    metrics.mto_enoexecevents_invalid_total.inc();
    await mark(run, event, "reconciliation-error").catch((fault: unknown) => {
      log.debug("event not marked", { event: name, error: errorText(fault) });
    });
    throw error;
  }
}

export async function dropEnoexecEvent(run: ExecFormatRun, name: string): Promise<ReconcileResult> {
  if (await remove(run, name)) run.metrics.mto_enoexecevents_invalid_total.inc();
  return DONE;
}

async function readSubjects(
  { api, signal }: ExecFormatRun,
  { podNamespace: namespace, podName, nodeName }: EnoexecEvent,
): Promise<readonly (KubeObject | undefined)[]> {
  if (podName === "" || namespace === "") return [];
  return await Promise.all([
    readOptional(api, { type: Resource.pods, namespace, name: podName, signal }),
    nodeName === "" ? undefined : readOptional(api, { type: Resource.nodes, name: nodeName, signal }),
  ]);
}

async function applyDecision(
  run: ExecFormatRun,
  event: EnoexecEvent,
  decision: EnoexecDecision,
): Promise<ReconcileResult> {
  switch (decision.kind) {
    case "leave":
      return DONE;
    case "wait":
      return requeueAfter(decision.afterMs);
    case "keep":
      await mark(run, event, decision.error);
      return requeueAfter(decision.afterMs);
    case "expire":
      await remove(run, event.name);
      return DONE;
    case "dismiss":
      return await finish(run, event, decision.error);
    case "report": {
      const { pod, container, architecture } = decision;
      const { command, isEntryPoint } = event;
      const seen = { pod, container, architecture, refused: "start", command, source: "kernel", isEntryPoint } as const;
      const outcome = await reportFailure(run, { ...seen, isCertain: true, wasReported: false });
      return await finish(run, event, outcome === "gone" ? "pod-not-found" : undefined);
    }
    default:
      return assertNever(decision);
  }
}

/** Deletes a handled event. If something else holds it, it stays readable, so it is first marked with its error. */
async function finish(run: ExecFormatRun, event: EnoexecEvent, error?: EnoexecError): Promise<ReconcileResult> {
  if (error !== undefined && event.isHeld) await mark(run, event, error);
  if (await remove(run, event.name)) run.metrics.mto_enoexecevents_total.inc();
  return DONE;
}

async function mark(
  { api, settings: { namespace }, signal }: ExecFormatRun,
  { name, error: marked }: EnoexecEvent,
  error: EnoexecError,
): Promise<void> {
  if (marked === error) return;
  const document = { metadata: { labels: { [EnoexecLabel.error]: error } } };
  const body = { kind: "merge", document } as const;
  await ignoring(isNotFound, api.patch(Resource.enoexecEvents, { namespace, name }, { body, signal }));
}

async function remove({ api, settings: { namespace }, signal }: ExecFormatRun, name: string): Promise<boolean> {
  const removed = api.delete(Resource.enoexecEvents, { namespace, name }, { signal }).then(() => true);
  return await ignoring(isNotFound, removed) ?? false;
}

async function forget(run: ExecFormatRun, object: KubeObject): Promise<ReconcileResult> {
  const record = parseFailedImage(object);
  const leftMs = record === undefined ? 0 : record.atMs + FAILED_TTL_MS - run.clock.nowMs();
  if (leftMs > 0) return requeueAfter(leftMs);
  await remove(run, object.metadata.name);
  return DONE;
}
