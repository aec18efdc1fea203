// Audit mode: pods are left as they are, and what would have been done is told as event, metric and log line. Opened by
// main, run by the leader; idle while nothing is audited.
import { LRUCache } from "lru-cache";
import type { PodImages } from "../../lib/images/pod_images.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { openReflector } from "../../lib/k8s/reflector.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { WorkQueue } from "../../lib/k8s/work_queue.ts";
import type { Metrics } from "../../lib/metrics.ts";
import { auditDecision, auditReports } from "../../lib/placement/report/audit.ts";
import type { PlacementConfigs } from "../../lib/placement/config_types.ts";
import { imagesToInspect } from "../../lib/placement/images.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import { decisionReason } from "../../lib/placement/report/reason.ts";
import { recordOf } from "../../lib/placement/patch/record.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { type CatchUpDeps, LOOK_MS, openCatchUp } from "./catch_up.ts";

/** What it is made with. */
export interface AuditDeps extends CatchUpDeps {
  readonly images: PodImages;
  readonly events: Pick<EventRecorder, "record">;
  readonly metrics: Metrics;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** The running controller. */
export interface Audit {
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Audited pods inspected at a time. */
const PARALLEL = 4;
/** Audited pods that are remembered, so that none is told of twice. */
const REMEMBERED_PODS = 4_096;

/** Makes the controller. Nothing is asked of the API server while nothing is audited. */
export function openAudit(parts: AuditDeps): Audit {
  const { api, clock, log, settingsOf } = parts;
  const teller = openAuditReporter(parts);
  const pending = openReflector<PodView>({
    api,
    resource: Resource.pods,
    fieldSelector: "status.phase=Pending",
    parse: (object) => settingsOf(object.metadata.namespace ?? "").audit ? parsePod(object) : undefined,
    onChange: ({ kind, key, value }) => kind === "apply" ? teller.notice(key, value) : undefined,
    clock,
    log,
    name: "audited pods",
  });
  const catchUp = openCatchUp(parts, teller.notice);
  return {
    run: async (signal) => {
      while (!signal.aborted && [...parts.audited()].length === 0) await clock.sleep(LOOK_MS, signal);
      if (!signal.aborted) await Promise.all([pending, teller, catchUp].map((part) => part.run(signal)));
    },
  };
}

/** Tells once of each pod it is given. */
function openAuditReporter(parts: AuditDeps): Audit & { readonly notice: (key: string, pod: PodView) => void } {
  const { clock, log } = parts;
  const told = new LRUCache<string, true>({ max: REMEMBERED_PODS });
  /** Pods to tell of. Kept here, because a pod that soon runs leaves the watch of pending ones before its turn. */
  const due = new Map<string, PodView>();
  const queue = new WorkQueue({
    name: "audit",
    parallel: PARALLEL,
    clock,
    log,
    reconcile: async (key, signal) => {
      const pod = due.get(key);
      if (pod !== undefined) await audit(parts, pod, signal);
      if (due.get(key) === pod) due.delete(key);
      return { kind: "done" };
    },
  });
  return {
    run: (signal) => queue.run(signal),
    notice: (key, pod) => {
      if (told.has(pod.uid)) return;
      told.set(pod.uid, true);
      due.set(key, pod);
      queue.add(key);
    },
  };
}

async function audit(parts: AuditDeps, pod: PodView, signal: AbortSignal): Promise<void> {
  const settings = parts.settingsOf(pod.namespace);
  const scope = { namespace: pod.namespace, pullSecrets: pod.imagePullSecrets };
  const wanted = imagesToInspect(pod, settings);
  const images = await parts.images.inspect({ scope, images: wanted, priority: "admission" }, signal);
  const live = parts.liveArchitectures();
  const decision = auditDecision({
    pod,
    configs: parts.configsOf(pod.namespace),
    settings,
    images,
    gateAgeMs: 0,
    failedAttempts: 0,
    jitter: 0,
    ...(live === undefined ? {} : { liveArchitectures: live }),
  });
  const object = { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid };
  for (const report of auditReports(decision)) parts.events.record({ object, slot: 1, ...report });
  parts.metrics.decision("audited");
  const { namespace, name } = pod;
  const fields = { namespace, pod: name, reason: decisionReason(decision), record: recordOf(decision) };
  parts.log.info("pod audited", fields);
}
