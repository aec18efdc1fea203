// One pod whose status must be checked: are there containers in it that run, or were to run, a program of another
// architecture? Without any daemon; what the daemon has reported already is left alone.
import { isForbidden } from "../../lib/k8s/errors.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { Resource, resourcePath, type ResourceTarget } from "../../lib/k8s/types.ts";
import { architectureOf } from "../../lib/enoexec/decide_event.ts";
import { findSuspects, isConfirmed, type Suspect } from "../../lib/enoexec/suspect.ts";
import { PodLabel } from "../../lib/names.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatDeps } from "./deps.ts";
import type { HandleOptions } from "./handle_event.ts";
import { inspectContainer, reportFailure } from "./report.ts";

/** A pod that takes longer is requeued before its next container, so that others are checked (ms). */
const TURN_MS = 2_000;
const NEXT_TURN_MS = 1_000;

/**
 * Checks a pod and reports what it finds, or returns when to check the rest of its containers. Throws ApiError when
 * something cannot be read.
 */
export async function reconcilePod(
  deps: ExecFormatDeps,
  target: ResourceTarget,
  { repairs, sinceMs, signal }: HandleOptions & {
    /** Since when this replica leads (epoch ms). */
    readonly sinceMs: number;
  },
): Promise<ReconcileResult> {
  const { api, reported, clock } = deps;
  const startedMs = clock.monotonicMs();
  const pod = await readOptional(api, { type: Resource.pods, ...target, signal });
  const view = parsePod(pod);
  if (pod === undefined || view === undefined || view.nodeName === "") return DONE;
  const suspects = findSuspects(pod)
    .filter(({ container: { name } }) => !reported.has({ podUid: view.uid, name }));
  if (suspects.length === 0) return DONE;
  const node = await readOptional(api, { type: Resource.nodes, name: view.nodeName, signal });
  if (node === undefined) return DONE;
  const architecture = architectureOf(node);
  for (const suspect of suspects) {
    if (clock.monotonicMs() - startedMs > TURN_MS) return requeueAfter(NEXT_TURN_MS);
    const { container, suspicion } = suspect;
    if (!await isProven(deps, { pod: view, suspect, architecture, signal })) {
      reported.clear({ podUid: view.uid, name: container.name });
      continue;
    }
    const refused = suspicion === "pull" ? "pull" : "start";
    const isCertain = suspicion === "message" && container.isImagesOwn;
    const seen = { pod, container, architecture, refused, command: "", source: "status", isCertain } as const;
    const isOlder = (container.end?.atMs ?? -Infinity) < sinceMs;
    const wasReported = isOlder && pod.metadata.labels?.[PodLabel.execFormatError] === "true";
    // The last output may be that of a program that was started beside the image's own.
    await reportFailure(deps, { ...seen, isEntryPoint: false, wasReported }, { repairs, signal });
  }
  return DONE;
}

async function isProven(
  deps: ExecFormatDeps,
  { pod, suspect, architecture, signal }: {
    readonly pod: PodView;
    readonly suspect: Suspect;
    readonly architecture: string;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { container, suspicion } = suspect;
  const none = { architecture, imageArchitectures: undefined, lastLogLine: undefined };
  if (suspicion !== "ended") return isConfirmed(suspect, none);
  const image = await inspectContainer(deps, { pod, container, signal });
  if (isConfirmed(suspect, { ...none, imageArchitectures: image?.architectures })) return true;
  const lastLogLine = await readLastLogLine(deps, { pod, name: container.name, signal });
  return isConfirmed(suspect, { ...none, lastLogLine });
}

/** The last output of a container that has ended; undefined where logs may not be read, or there are none. */
async function readLastLogLine(
  { api, log }: ExecFormatDeps,
  { pod: { namespace, name: pod }, name, signal }: {
    readonly pod: PodView;
    readonly name: string;
    readonly signal: AbortSignal;
  },
): Promise<string | undefined> {
  const path = resourcePath(Resource.pods, { namespace, name: pod, subresource: "log" });
  try {
    const text = await api.raw(
      `${path}?${new URLSearchParams({ container: name, tailLines: "1", limitBytes: "256" })}`,
      signal,
    );
    return typeof text === "string" ? text : undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isForbidden(error)) log.debug("log of a container not read", { namespace, pod });
    return undefined;
  }
}
