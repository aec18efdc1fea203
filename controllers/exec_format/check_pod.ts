// Checks a pod's status, without a daemon, for containers that run a program of another architecture.
import { architectureOf } from "../../lib/exec_format/decide/decide_enoexec_event.ts";
import { findSuspects, isConfirmed, type Suspect } from "../../lib/exec_format/decide/suspect.ts";
import { isForbidden } from "../../lib/k8s/api_error.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { Resource, resourcePath, type ResourceTarget } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { PodLabel } from "../../lib/names.ts";
import { parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatRun } from "./deps.ts";
import { inspectContainer, reportFailure } from "./report.ts";

/** A pod whose check takes longer (ms) is requeued before its next container, so that others get their turn. */
const TURN_MS = 2_000;
const NEXT_TURN_MS = 1_000;

/** Checks a pod and reports what it finds. `sinceMs`: since when this replica leads (epoch ms). Throws ApiError. */
export async function reconcilePod(
  run: ExecFormatRun,
  target: ResourceTarget,
  sinceMs: number,
): Promise<ReconcileResult> {
  const { api, reported, clock, signal } = run;
  const startedMs = clock.monotonicMs();
  const pod = await readOptional(api, { type: Resource.pods, ...target, signal });
  const view = parsePod(pod);
  if (pod === undefined || view === undefined || view.nodeName === "") return DONE;
  const suspects = findSuspects(pod).filter(({ container: { name } }) => !reported.has(view.uid, name));
  if (suspects.length === 0) return DONE;
  const node = await readOptional(api, { type: Resource.nodes, name: view.nodeName, signal });
  if (node === undefined) return DONE;
  const architecture = architectureOf(node);
  for (const suspect of suspects) {
    if (clock.monotonicMs() - startedMs > TURN_MS) return requeueAfter(NEXT_TURN_MS);
    const { container, suspicion } = suspect;
    if (!await isProven(run, view, suspect, architecture)) {
      reported.clear(view.uid, container.name);
      continue;
    }
    const isOlder = (container.end?.atMs ?? -Infinity) < sinceMs;
    await reportFailure(run, {
      pod,
      container,
      architecture,
      command: "",
      source: "status",
      refused: suspicion === "pull" ? "pull" : "start",
      isCertain: suspicion === "message" && container.runsImageUnchanged,
      // The last output may come from another program than the image's own.
      isEntryPoint: false,
      wasReported: isOlder && pod.metadata.labels?.[PodLabel.execFormatError] === "true",
    });
  }
  return DONE;
}

async function isProven(run: ExecFormatRun, pod: PodView, suspect: Suspect, architecture: string): Promise<boolean> {
  const { container, suspicion } = suspect;
  if (suspicion !== "ended") return true;
  const image = await inspectContainer(run, pod, container);
  const facts = { architecture, imageArchitectures: image?.architectures };
  return isConfirmed(suspect, { ...facts, lastLogLine: undefined }) ||
    isConfirmed(suspect, { ...facts, lastLogLine: await readLastLogLine(run, pod, container.name) });
}

async function readLastLogLine(
  { api, log, signal }: ExecFormatRun,
  { namespace, name: pod }: PodView,
  container: string,
): Promise<string | undefined> {
  const path = resourcePath(Resource.pods, { namespace, name: pod, subresource: "log" });
  try {
    const text = await api.raw(
      `${path}?${new URLSearchParams({ container, tailLines: "1", limitBytes: "256" })}`,
      signal,
    );
    return typeof text === "string" ? text : undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isForbidden(error)) log.debug("log of a container not read", { namespace, pod });
    return undefined;
  }
}
