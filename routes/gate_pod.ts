// The mutating webhook: gates, places or leaves a new pod and a queued Job, from memory alone. It fails open: an internal error
// never refuses a pod.
import type { KnownPodImages } from "../lib/images/pods/known_images.ts";
import type { ImageUse } from "../lib/oci/types.ts";
import type { Context } from "hono";
import { type Board, boardImages, unknownImages } from "../lib/placement/decide/report/board.ts";
import type { Clock } from "../lib/clock.ts";
import type { LoadLimit } from "../lib/server/load_limit.ts";
import { errorText, type Logger } from "../lib/log.ts";
import type { AdmissionOutcome } from "../lib/placement/metrics.ts";
import { admissionPatch, renderStorable } from "../lib/placement/decide/patch/admission_patch.ts";
import type { PlacementConfigs, PlacementSettings } from "../lib/placement/decide/config/types.ts";
import type { AdmissionVerdict } from "../lib/placement/decide/decision_types.ts";
import { imagesAtAdmission, judgeAdmission, planAdmission } from "../lib/placement/decide/gate.ts";
import { requiredArchitectures } from "../lib/placement/decide/place.ts";
import { parsePod, podTemplateOf } from "../lib/placement/decide/pod/pod_view.ts";
import { narrowTemplate } from "../lib/placement/decide/workload.ts";
import { listAt, MAX_STRUCTURE, objectAt } from "../lib/json.ts";
import { exchangedContainers } from "../lib/placement/decide/report/mismatches.ts";
import { verdictReason } from "../lib/placement/decide/report/reason.ts";
import type { PodView } from "../lib/placement/decide/types.ts";
import { type AdmissionRequest, allowedReview, parseReview, uncheckedReview } from "./admission.ts";
import type { Notices } from "../lib/placement/cluster/noticed_pods.ts";
import { type ReviewBody, withReviewBody } from "./review_body.ts";

/** What the webhook calls in the rest of the process; every function but `startup` returns at once. */
export interface GatePodDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limit: LoadLimit;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly recall: (pod: PodView, images: readonly ImageUse[]) => KnownPodImages | undefined;
  /** Starts inspecting in the background; `imageConfigs`: images whose config must be read as well. */
  readonly prefetch: (pod: PodView, images: readonly ImageUse[], imageConfigs: readonly string[]) => void;
  readonly mayGate: () => boolean;
  /** Only in the first moments of a process: ends when it has seen what verdicts rest on, or has waited long enough. */
  readonly startup: () => Promise<void> | undefined;
  readonly notices: Notices;
  readonly liveArchitectures: () => readonly string[] | undefined;
  readonly board: Pick<Board, "record">;
  readonly observe: (outcome: AdmissionOutcome, options: { readonly ms: number; readonly dryRun: boolean }) => void;
}

interface Answer {
  readonly outcome: AdmissionOutcome;
  /** As text; empty for none. */
  readonly patch: string;
}

const UNTOUCHED: Answer = { outcome: "passed", patch: "" };

/** A pod with more containers is not checked: more than any node runs. Each costs about a microsecond. */
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
    // The API server applies failurePolicy at once. A Retry-After would make it send the request again, within the same timeout.
    return context.json({ error: "Cannot take this AdmissionReview: too many at a time." }, 503);
  }
  if (read.kind === "dense" && read.uid !== undefined) {
    log.warn("pod admitted unread: its review has too many members", { uid: read.uid, max: MAX_STRUCTURE });
    observe("dense", { ms: elapsedMs(), dryRun: false });
    return context.json(uncheckedReview(read.uid, uncheckedWarning(`${MAX_STRUCTURE} fields and list elements`)));
  }
  const parsed = read.kind === "dense"
    ? { kind: "unreadable", status: 400, reason: "too many members, and no request uid where it belongs" } as const
    : read.kind === "json"
    ? parseReview(read.body)
    : read;
  if (parsed.kind === "unreadable") {
    log.warn("unreadable admission request", { reason: parsed.reason });
    observe("unreadable", { ms: elapsedMs(), dryRun: false });
    return context.json({ error: `Cannot read the AdmissionReview: ${parsed.reason}.` }, parsed.status);
  }
  const { uid, dryRun, object } = parsed.request;
  if (countContainers(object) > MAX_CONTAINERS) {
    observe("dense", { ms: elapsedMs(), dryRun });
    return context.json(uncheckedReview(uid, uncheckedWarning(`${MAX_CONTAINERS} containers`)));
  }
  const startup = deps.startup();
  if (startup !== undefined) await startup;
  const reviewBytes = Number(context.req.header("content-length") ?? 0);
  const { outcome, patch } = answerSafely(deps, { request: parsed.request, reviewBytes });
  observe(outcome, { ms: elapsedMs(), dryRun });
  return context.json(allowedReview(uid, patch));
}

type Reason = Extract<AdmissionVerdict, { readonly reason: string }>["reason"];

/** Reasons for which a pod's architecture pins are not reported. */
const NOT_REPORTED: readonly Reason[] = ["OperatorNamespace", "KubeNamespace", "NodeNameSet", "AuditMode"];

function isNoticed(verdict: AdmissionVerdict): boolean {
  return !("reason" in verdict && NOT_REPORTED.includes(verdict.reason));
}

function countContainers(object: unknown): number {
  const own = objectAt(object, "spec");
  const spec = objectAt(objectAt(own, "template"), "spec") ?? own;
  return (listAt(spec, "containers")?.length ?? 0) + (listAt(spec, "initContainers")?.length ?? 0);
}

interface SizedRequest {
  readonly request: AdmissionRequest;
  /** The bytes of the review that brought it; 0 when the client did not say. */
  readonly reviewBytes: number;
}

function answerSafely(deps: GatePodDeps, sized: SizedRequest): Answer {
  try {
    return answer(deps, sized);
  } catch (error) {
    deps.log.error("admission request could not be judged", { uid: sized.request.uid, error: errorText(error) });
    return UNTOUCHED;
  }
}

function answer(deps: GatePodDeps, { request, reviewBytes }: SizedRequest): Answer {
  if (request.resource === "batch/jobs") return answerJob(deps, { request, reviewBytes });
  const isNewPod = request.subresource === "" && request.operation === "CREATE";
  const hasEphemeral = request.subresource === "ephemeralcontainers";
  const isUpdate = request.subresource === "" && request.operation === "UPDATE";
  if (request.resource !== "pods" || !isNewPod && !hasEphemeral && !isUpdate) return UNTOUCHED;
  // A new pod may leave its namespace out; the request never does.
  const pod = parsePod(request.object, { namespace: request.namespace });
  if (pod === undefined) {
    deps.log.warn("admission request without a pod", { uid: request.uid, namespace: request.namespace });
    return UNTOUCHED;
  }
  if (!isNewPod) {
    if (!request.dryRun) noticeLate(deps.notices, pod, hasEphemeral ? undefined : parsePod(request.oldObject));
    return UNTOUCHED;
  }
  const settings = deps.settingsOf(pod.namespace);
  const plan = planAdmission(pod, deps.configsOf(pod.namespace), settings);
  const images = imagesAtAdmission(pod, plan, settings);
  const isDecided = plan.kind === "decided";
  const known = images.length > 0 && (settings.warmAdmission || isDecided) ? deps.recall(pod, images) : undefined;
  const mayGate = deps.mayGate();
  const facts = { pod, settings, plan, known: known?.images, mayGate, liveArchitectures: deps.liveArchitectures() };
  const verdict = judgeAdmission(facts);
  const { imageConfigs } = verdict;
  const patch = renderStorable(admissionPatch(pod, verdict), reviewBytes);
  if (patch === undefined) {
    deps.log.warn("pod admitted as it is: it may be too large to be stored with a patch", { uid: request.uid });
    return UNTOUCHED;
  }
  const isWorthwhile = isDecided
    ? known === undefined || known.isAging || imageConfigs.length > 0
    : verdict.kind === "gate" || verdict.kind === "place" && known?.isAging === true;
  if (images.length > 0 && isWorthwhile && !request.dryRun) deps.prefetch(pod, images, imageConfigs);
  if (isNoticed(verdict) && !request.dryRun) deps.notices.pinned(pod);
  report(deps, { pod, verdict, images: isDecided ? [] : images, dryRun: request.dryRun });
  return { outcome: outcomeOf(verdict), patch };
}

/** `before`: the pod before the update; undefined where it gets ephemeral containers. */
function noticeLate(notices: Notices, pod: PodView, before: PodView | undefined): void {
  if (before === undefined) notices.late(pod, { came: "ephemeral", containers: pod.ephemeralContainers });
  else notices.late(pod, { came: "exchanged", containers: exchangedContainers(before, pod) });
}

/** A Job that is queued by Kueue: its pods' affinity is in its template at once where the images are known. */
function answerJob(deps: GatePodDeps, { request: { object, namespace, dryRun }, reviewBytes }: SizedRequest): Answer {
  const template = podTemplateOf({ metadata: { namespace }, spec: objectAt(object, "spec") });
  if (template === undefined) return UNTOUCHED;
  const settings = deps.settingsOf(namespace);
  const plan = planAdmission(template, deps.configsOf(namespace), settings);
  const images = plan.kind === "inspect" ? plan.images : [];
  const known = images.length === 0 ? undefined : deps.recall(template, images);
  const facts = { pod: template, settings, plan, known: known?.images, mayGate: false };
  const verdict = judgeAdmission({ ...facts, liveArchitectures: deps.liveArchitectures() });
  if (known === undefined && images.length > 0 && !dryRun) deps.prefetch(template, images, []);
  const operations = verdict.kind === "place" ? narrowTemplate(template, verdict.decision, "/spec/template") : [];
  const patch = renderStorable(operations, reviewBytes);
  return patch === undefined ? UNTOUCHED : { outcome: "passed", patch };
}

function report(
  { board, clock, log }: GatePodDeps,
  { pod, verdict, images, dryRun }: {
    readonly pod: PodView;
    readonly verdict: AdmissionVerdict;
    readonly images: readonly ImageUse[];
    readonly dryRun: boolean;
  },
): void {
  const { namespace } = pod;
  const who = pod.name === "" ? `${pod.generateName}…` : pod.name;
  const reason = verdictReason(verdict);
  log.debug("pod admitted", { namespace, pod: who, reason });
  if (dryRun) return;
  const decision = verdict.kind === "place" ? verdict.decision : undefined;
  board.record({
    atMs: clock.nowMs(),
    namespace,
    pod: who,
    kind: verdict.kind,
    reason,
    architectures: decision === undefined ? [] : requiredArchitectures(decision) ?? [],
    images: decision === undefined ? unknownImages(images) : boardImages(decision),
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
  if (verdict.kind === "place" && verdict.repeated) return "passed";
  return verdict.kind === "pass" && verdict.reason === "AuditMode" ? "audited" : OUTCOME[verdict.kind];
}
