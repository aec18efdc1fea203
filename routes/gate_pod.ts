// The mutating webhook: gates, places or leaves alone a new pod, and narrows a queued Job, from memory alone. It fails
// open: an internal error never refuses a pod.
import type { KnownPodImages } from "../lib/placement/images/known_images.ts";
import type { ImageUse } from "../lib/oci/inspection.ts";
import type { Context } from "hono";
import { decidedImages, unknownImages } from "../lib/placement/decide/history/recent_decisions.ts";
import type { DecisionRing } from "../lib/placement/cluster/decision_ring.ts";
import type { Clock } from "../lib/clock.ts";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { errorText, type Logger } from "../lib/log.ts";
import type { AdmissionOutcome } from "../lib/placement/metrics.ts";
import { admissionPatch, renderStorable } from "../lib/placement/decide/patch/admission_patch.ts";
import type { PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import type { PlacementConfigs } from "../lib/placement/decide/config/config.ts";
import type { AdmissionVerdict } from "../lib/placement/decide/decision_types.ts";
import { judgeAdmission, planAdmission, type PlannedAdmission } from "../lib/placement/decide/admission.ts";
import { requiredArchitectures } from "../lib/placement/decide/place.ts";
import { parsePod, podTemplateOf, type PodView } from "../lib/placement/decide/pod/pod_view.ts";
import { narrowTemplate } from "../lib/placement/decide/kueue_workload.ts";
import { listAt, MAX_STRUCTURE, objectAt } from "../lib/json.ts";
import type { JsonPatch } from "../lib/k8s/patch.ts";
import { exchangedContainers, type LateImages } from "../lib/placement/decide/events/mismatches.ts";
import { verdictReason } from "../lib/placement/decide/history/reason.ts";
import { type AdmissionRequest, allowedReview, parseReview, uncheckedReview } from "./admission.ts";
import type { MismatchChecks } from "../lib/placement/cluster/mismatch_checks.ts";
import { type ReviewBody, withReviewBody } from "./review_body.ts";

/** What the webhook calls in the rest of the process; every function but `startup` returns at once. */
export interface GatePodDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limit: LoadLimit;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly recall: (pod: PodView, images: readonly ImageUse[]) => KnownPodImages | undefined;
  /** Starts inspecting in the background. */
  readonly prefetch: (pod: PodView, images: readonly ImageUse[], possibleBundles: readonly string[]) => void;
  readonly mayGate: () => boolean;
  /** Ends when the process has read what verdicts rest on, or after a time limit. Undefined afterwards. */
  readonly startup: () => Promise<void> | undefined;
  readonly mismatches: MismatchChecks;
  readonly liveArchitectures: () => readonly string[] | undefined;
  readonly decisions: Pick<DecisionRing, "record">;
  readonly observe: (outcome: AdmissionOutcome, options: { readonly ms: number; readonly dryRun: boolean }) => void;
}

interface Answer {
  readonly outcome: AdmissionOutcome;
  /** A JSON Patch as text; empty without changes. */
  readonly patch: string;
}

const UNTOUCHED: Answer = { outcome: "passed", patch: "" };

/** A pod with more containers is admitted unchecked: no node runs that many, and each costs about a microsecond. */
export const MAX_CONTAINERS = 5_000;

function uncheckedWarning(excess: string): string {
  return `Archway admitted this pod without looking at it: it has more than ${excess}. ` +
    "It has no scheduling gate and may be scheduled onto a node that its images do not support.";
}

export function gatePod(deps: GatePodDeps): (context: Context) => Promise<Response> {
  return (context) => withReviewBody(context, deps.limit, (read) => review(deps, { context, read }));
}

async function review(
  deps: GatePodDeps,
  { context, read }: { readonly context: Context; readonly read: ReviewBody },
): Promise<Response> {
  const { clock, log, observe } = deps;
  const startedMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startedMs;
  if (read.kind === "shed") {
    observe("shed", { ms: 0, dryRun: false });
    // The API server applies failurePolicy at once. A Retry-After would make it send the request again, within the same
    // timeout.
    return context.json({ error: "Cannot take this AdmissionReview: too many at a time." }, 503);
  }
  if (read.kind === "dense") {
    log.warn("pod admitted unread: its review has too many members", { uid: read.uid, max: MAX_STRUCTURE });
    observe("dense", { ms: elapsedMs(), dryRun: false });
    return context.json(uncheckedReview(read.uid, uncheckedWarning(`${MAX_STRUCTURE} fields and list elements`)));
  }
  const parsed = read.kind === "json" ? parseReview(read) : read;
  if (parsed.kind === "unreadable") {
    log.warn("unreadable admission request", { reason: parsed.reason });
    observe("unreadable", { ms: elapsedMs(), dryRun: false });
    return context.json({ error: `Cannot read the AdmissionReview: ${parsed.reason}.` }, parsed.status);
  }
  const { uid, dryRun, object } = parsed.request;
  if (countContainers(object) > MAX_CONTAINERS) {
    log.warn("pod admitted unread: it has too many containers", { uid, max: MAX_CONTAINERS });
    observe("dense", { ms: elapsedMs(), dryRun });
    return context.json(uncheckedReview(uid, uncheckedWarning(`${MAX_CONTAINERS} containers`)));
  }
  const startup = deps.startup();
  if (startup !== undefined) await startup;
  const { outcome, patch } = answerSafely(deps, parsed.request);
  observe(outcome, { ms: elapsedMs(), dryRun });
  return context.json(allowedReview(uid, patch));
}

function countContainers(object: unknown): number {
  const spec = objectAt(object, "spec");
  const podSpec = objectAt(objectAt(spec, "template"), "spec") ?? spec;
  return (listAt(podSpec, "containers")?.length ?? 0) + (listAt(podSpec, "initContainers")?.length ?? 0);
}

function answerSafely(deps: GatePodDeps, request: AdmissionRequest): Answer {
  try {
    return answer(deps, request);
  } catch (error) {
    deps.log.error("admission request could not be judged", { uid: request.uid, error: errorText(error) });
    return UNTOUCHED;
  }
}

function answer(deps: GatePodDeps, request: AdmissionRequest): Answer {
  if (request.resource === "batch/jobs") return answerJob(deps, request);
  const change = podChangeOf(request);
  if (change === undefined) return UNTOUCHED;
  // A new pod may leave its namespace out; the request never does.
  const pod = parsePod(request.object, { namespace: request.namespace });
  if (pod === undefined) {
    deps.log.warn("admission request without a pod", { uid: request.uid, namespace: request.namespace });
    return UNTOUCHED;
  }
  if (change === "created") return answerNewPod(deps, request, pod);
  if (!request.dryRun) deps.mismatches.checkLateImages(pod, lateImagesOf(request, pod, change));
  return UNTOUCHED;
}

/** What the request does to a pod; undefined if it concerns no pod, or changes nothing that Archway checks. */
function podChangeOf(
  { resource, subresource, operation }: AdmissionRequest,
): "created" | LateImages["came"] | undefined {
  if (resource !== "pods") return undefined;
  if (subresource === "ephemeralcontainers") return "ephemeral";
  if (subresource !== "") return undefined;
  return operation === "CREATE" ? "created" : operation === "UPDATE" ? "exchanged" : undefined;
}

function answerNewPod(deps: GatePodDeps, request: AdmissionRequest, pod: PodView): Answer {
  const planned = planAdmission(pod, deps.configsOf(pod.namespace), deps.settingsOf(pod.namespace));
  const verdict = judge(deps, planned);
  const patch = renderPatch(deps, request, admissionPatch(pod, verdict));
  if (patch === undefined) return UNTOUCHED;
  if (!request.dryRun) followUp(deps, pod, verdict);
  report(deps, planned, { verdict, dryRun: request.dryRun });
  return { outcome: outcomeOf(verdict), patch };
}

function lateImagesOf({ oldObject }: AdmissionRequest, pod: PodView, came: LateImages["came"]): LateImages {
  if (came === "ephemeral") return { came, containers: pod.ephemeralContainers };
  const before = parsePod(oldObject);
  return { came, containers: before === undefined ? [] : exchangedContainers(before, pod) };
}

/** Answers for a Job that Kueue queues. If its images are known, its template gets its pods' affinity at once. */
function answerJob(deps: GatePodDeps, request: AdmissionRequest): Answer {
  const { object, namespace, dryRun } = request;
  const template = podTemplateOf({ metadata: { namespace }, spec: objectAt(object, "spec") });
  if (template === undefined) return UNTOUCHED;
  const verdict = judge(deps, planAdmission(template, deps.configsOf(namespace), deps.settingsOf(namespace), "job"));
  if (!dryRun) followUp(deps, template, verdict);
  const operations = verdict.kind === "place" ? narrowTemplate(template, verdict.decision, "/spec/template") : [];
  // A Job counts as passed even with a patch: other outcomes count pods, and the Job's pods are reviewed on their own.
  return { outcome: "passed", patch: renderPatch(deps, request, operations) ?? "" };
}

function renderPatch({ log }: GatePodDeps, request: AdmissionRequest, operations: JsonPatch): string | undefined {
  const { uid, resource, reviewBytes } = request;
  const patch = renderStorable(operations, reviewBytes);
  if (patch === undefined) {
    log.warn("admitted as it is: it may be too large to be stored with a patch", { uid, resource });
  }
  return patch;
}

function judge(deps: GatePodDeps, planned: PlannedAdmission): AdmissionVerdict {
  const { pod, images, mayUseMemory } = planned;
  const known = mayUseMemory ? deps.recall(pod, images) : undefined;
  return judgeAdmission({ ...planned, known, mayGate: deps.mayGate(), liveArchitectures: deps.liveArchitectures() });
}

function followUp(deps: GatePodDeps, pod: PodView, { prefetch, possibleBundles, isCompared }: AdmissionVerdict): void {
  if (prefetch.length > 0) deps.prefetch(pod, prefetch, possibleBundles);
  if (isCompared) deps.mismatches.checkPinned(pod);
}

function report(
  { decisions, clock, log }: GatePodDeps,
  { pod, plan }: PlannedAdmission,
  { verdict, dryRun }: { readonly verdict: AdmissionVerdict; readonly dryRun: boolean },
): void {
  const { namespace } = pod;
  const who = pod.name === "" ? `${pod.generateName}…` : pod.name;
  const reason = verdictReason(verdict);
  log.debug("pod admitted", { namespace, pod: who, reason });
  if (dryRun) return;
  const decision = verdict.kind === "place" ? verdict.decision : undefined;
  const wanted = plan.kind === "inspect" ? plan.images : [];
  decisions.record({
    atMs: clock.nowMs(),
    namespace,
    pod: who,
    kind: verdict.kind,
    reason,
    architectures: decision === undefined ? [] : requiredArchitectures(decision) ?? [],
    images: decision === undefined ? unknownImages(wanted) : decidedImages(decision),
    gatedMs: undefined,
  });
}

const OUTCOME: Readonly<Record<AdmissionVerdict["kind"], AdmissionOutcome>> = {
  ignore: "ignored",
  gate: "gated",
  place: "placed",
  pass: "passed",
};

function outcomeOf(verdict: AdmissionVerdict): AdmissionOutcome {
  // A later call of the same admission is not counted as another placement.
  if (verdict.kind === "place" && verdict.isRepeated) return "passed";
  return verdict.kind === "pass" && verdict.reason === "AuditMode" ? "audited" : OUTCOME[verdict.kind];
}
