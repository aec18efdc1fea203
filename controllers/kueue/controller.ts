// Component `kueue`: narrows pod templates of queued Workloads, and answers the admission check that holds them.
//
//   Workload ─▶ images of its pod sets ─▶ decide ─▶ affinity of the templates, or the answer of the check
import { BACKGROUND_LIMIT_MS, inspectInBackground } from "../../lib/placement/images/background.ts";
import type { PodImageInspector } from "../../lib/placement/images/pod_image_inspector.ts";
import { podImagesWithBundles } from "../../lib/placement/cluster/pod_images_with_bundles.ts";
import { type KubeApi, readOptional, serverNowMs } from "../../lib/k8s/api.ts";
import { classifyWriteFailure } from "../../lib/k8s/api_error.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource, type ResourceTarget, splitKey } from "../../lib/k8s/types.ts";
import { memberOf } from "../../lib/json.ts";
import { ADMISSION_CHECK } from "../../lib/names.ts";
import { BACKGROUND_SHARES } from "../../lib/oci/limits/work_limits.ts";
import { parseConditions, setCondition } from "../../lib/vocabulary/condition.ts";
import { decideIgnoringGate } from "../../lib/placement/decide/decide.ts";
import type { PlacementDecision } from "../../lib/placement/decide/decision_types.ts";
import { evidenceOf } from "../../lib/placement/decide/judge_images.ts";
import { planQueued } from "../../lib/placement/decide/plan_inspection.ts";
import { pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { podTemplateOf, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import {
  answerPatch,
  decideKueueWorkload,
  flavorLabels,
  type KueueWorkload,
  narrowTemplate,
  parseKueueWorkload,
} from "../../lib/placement/decide/kueue_workload.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { type Controller, DONE, openController, type PlacementControllerDeps, requeueAfter } from "../controller.ts";

interface KueueDeps extends PlacementControllerDeps {
  readonly api: KubeApi;
}

/** More Workloads than may wait for registries at a time, so that those with known images always get a worker. */
const PARALLEL = 64;
/** Fewest image permits per Workload, so that eight of one namespace may wait for registries, and 63 in total. */
const MIN_WEIGHT = 64;
/** Shortest wait for images (ms), even when the maximum gate age is used up. */
const MIN_WAIT_MS = 1_000;
/** Shortest retry interval for permits (ms). It grows with the wait, because each retry reads the Workload. */
const NO_PERMIT_MS = 500;
/** The key of the check itself; Workloads' keys contain a slash. */
const CHECK_KEY = "check";
/** Interval of reads of the check (ms): Kueue may be installed later. */
const CHECK_MS = 60_000;
/** Short, because conflicts with other writers are brief and Kueue waits for the answer. */
const BACKOFF = { baseMs: 20, capMs: 5_000 } as const;

/** Consecutive failed inspection rounds of a Workload. */
interface Failures {
  readonly failedAttempts: number;
  readonly permanentFailures: number;
}

const NO_FAILURES: Failures = { failedAttempts: 0, permanentFailures: 0 };

interface Run extends KueueDeps {
  readonly signal: AbortSignal;
}

/** A Workload's failures so far, and how this inspection is made. */
interface WorkloadInspection extends Failures {
  /** How long the Workload has waited so far (ms). */
  readonly ageMs: () => number;
  readonly limitMs: number;
  readonly images: Pick<PodImageInspector, "inspect">;
}

/** No request is sent to the API server before `run`. */
export function openKueue(deps: KueueDeps): Controller {
  const failures = new Map<string, Failures>();
  const controller = openController({
    ...deps,
    name: "kueue",
    firstKey: CHECK_KEY,
    watches: [
      new Reflector<true>({
        ...deps,
        resource: Resource.kueueWorkloads,
        name: "Workloads of Kueue",
        parse: (object) => parseKueueWorkload(object) === undefined ? undefined : true,
        retain: RETENTION.unkept,
        onChange: ({ kind, key }) => kind === "apply" ? controller.enqueue(key) : undefined,
      }),
    ],
    parallel: PARALLEL,
    queue: { flowOf: (key) => splitKey(key).namespace ?? "", backoff: BACKOFF },
    reconcile: async (key, signal) => {
      const run = { ...deps, signal };
      if (key !== CHECK_KEY) return await reconcileWorkload(run, key, failures);
      await activateCheck(run);
      return requeueAfter(CHECK_MS);
    },
  });
  return controller;
}

async function reconcileWorkload(run: Run, key: string, failures: Map<string, Failures>): Promise<ReconcileResult> {
  const { api, clock, log, signal } = run;
  const object = await readOptional(api, { type: Resource.kueueWorkloads, ...splitKey(key), signal });
  const workload = object === undefined ? undefined : parseKueueWorkload(object);
  const before = failures.get(key) ?? NO_FAILURES;
  failures.delete(key);
  if (workload === undefined) return DONE;
  const weight = Math.max(MIN_WEIGHT, workload.podSets.reduce((sum, { template }) => sum + countImages(template), 0));
  const maxShare = BACKGROUND_SHARES.ungated;
  const ageMs = (): number => Math.max(0, serverNowMs(clock, api) - workload.sinceMs);
  const leftMs = run.settingsOf(workload.namespace).maxGateAgeMs - ageMs();
  using permit = run.images.permits.tryAcquire(workload.namespace, { weight, maxShare });
  if (permit === undefined && leftMs > 0) {
    failures.set(key, before);
    return requeueAfter(Math.min(leftMs, Math.max(NO_PERMIT_MS, ageMs() / 4)));
  }
  const limitMs = Math.min(BACKGROUND_LIMIT_MS, Math.max(MIN_WAIT_MS, leftMs));
  const context = { ...before, ageMs, limitMs, images: permit === undefined ? knownAmong(run.images) : run.images };
  // Decides about each pod set as about one of its pods.
  const decisions = await Promise.all(workload.podSets.map(({ template }) => decideTemplate(run, template, context)));
  const step = decideKueueWorkload({ workload, decisions, flavors: await readFlavors(run, workload) });
  if (step.kind === "wait") {
    failures.set(key, oneMore(before, decisions));
    return requeueAfter(step.afterMs);
  }
  if (step.workloadPatch.length > 0) await narrowJob(run, workload, decisions[0]);
  if (!workload.hasQuota) await narrowWorkload(run, workload, step.workloadPatch);
  if (step.answer !== undefined) {
    const { namespace, name } = workload;
    const answer = answerPatch(workload, step.answer, serverNowMs(clock, api));
    await patchWorkload(run, { namespace, name, subresource: "status" }, answer);
    log.info("workload checked", { workload: key, state: step.answer.state, message: step.answer.message });
  }
  return DONE;
}

function countImages({ containers, imageVolumes }: PodView): number {
  return containers.length + imageVolumes.length;
}

function oneMore({ failedAttempts, permanentFailures }: Failures, decisions: readonly PlacementDecision[]): Failures {
  const isPermanent = decisions.some((one) => one.kind === "retry" && one.failed.failure.kind === "permanent");
  return { failedAttempts: failedAttempts + 1, permanentFailures: permanentFailures + Number(isPermanent) };
}

/** Answers from memory alone, and with no image if it lacks one. */
function knownAmong(images: PodImageInspector): Pick<PodImageInspector, "inspect"> {
  return { inspect: (request) => Promise.resolve(images.recall(request)?.images ?? []) };
}

async function decideTemplate(
  { clock, settingsOf, configsOf, liveArchitectures, signal }: Run,
  pod: PodView,
  { images, limitMs, ageMs, ...failures }: WorkloadInspection,
): Promise<PlacementDecision> {
  const settings = settingsOf(pod.namespace);
  if (settings.audit) return { kind: "ignore", reason: "AuditMode" };
  const plan = planQueued(pod, configsOf(pod.namespace), settings);
  const wanted = plan.kind === "inspect" ? plan.images : [];
  const request = { identity: pullIdentityOf(pod), images: wanted, priority: "gated" } as const;
  const inspecting = podImagesWithBundles(images, pod, settings);
  const found = await inspectInBackground(inspecting, request, { signal, clock, limitMs });
  const evidence = evidenceOf({ pod, settings, plan }, found ?? []);
  const age = { ...failures, gateAgeMs: ageMs(), jitter: 0.5 };
  return decideIgnoringGate({ pod, settings, evidence, ...age, liveArchitectures: liveArchitectures() });
}

async function readFlavors(
  { api, signal }: Run,
  { podSets }: KueueWorkload,
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const names = [...new Set(podSets.flatMap(({ flavors }) => flavors))];
  return new Map(
    await Promise.all(names.map(async (name) => {
      const flavor = await readOptional(api, { type: Resource.kueueFlavors, name, signal });
      return [name, flavorLabels(flavor)] as const;
    })),
  );
}

/** Narrows the Job's template: Kueue may recreate the Workload from it, and the pods inherit its affinity. */
async function narrowJob(run: Run, workload: KueueWorkload, decision: PlacementDecision | undefined): Promise<void> {
  const { api, log, signal } = run;
  const { namespace, job: name } = workload;
  if (name === undefined) return;
  const job = await readOptional(api, { type: Resource.jobs, namespace, name, signal });
  const template = podTemplateOf(job);
  if (template === undefined || memberOf(job?.spec, "suspend") !== true) return;
  const narrowing = narrowTemplate(template, decision, "/spec/template");
  if (narrowing.length === 0) return;
  const operations = [
    { op: "test", path: "/spec/suspend", value: true },
    { op: "test", path: "/metadata/resourceVersion", value: job?.metadata.resourceVersion },
    ...narrowing,
  ] as const;
  try {
    await api.patch(Resource.jobs, { namespace, name }, { body: { kind: "json", operations }, signal });
  } catch (error) {
    const failure = classifyWriteFailure(error);
    if (failure === "transient" || failure === "stale") throw error;
    // The Job need not be narrowed: the affinity of the Workload is enough.
    log.debug("template of a job not narrowed", { job: `${namespace}/${name}`, failure });
  }
}

async function narrowWorkload(run: Run, workload: KueueWorkload, narrowing: JsonPatch): Promise<void> {
  if (narrowing.length === 0) return;
  const { namespace, name, resourceVersion } = workload;
  const unchanged = { op: "test", path: "/metadata/resourceVersion", value: resourceVersion } as const;
  await patchWorkload(run, { namespace, name }, [unchanged, ...narrowing]);
}

async function patchWorkload({ api, signal }: Run, target: ResourceTarget, operations: JsonPatch): Promise<void> {
  await api.patch(Resource.kueueWorkloads, target, { body: { kind: "json", operations }, signal });
}

/** Sets the check's condition Active, without which Kueue admits nothing to its ClusterQueues. */
async function activateCheck({ api, clock, signal }: Run): Promise<void> {
  const name = ADMISSION_CHECK;
  const check = await readOptional(api, { type: Resource.kueueChecks, name, signal });
  if (check === undefined) return;
  const previous = parseConditions(check.status);
  const active = { type: "Active", status: "True", reason: "Active", message: "Archway answers this check." } as const;
  const condition = { ...active, observedGeneration: check.metadata.generation ?? 0 };
  const conditions = setCondition(previous, condition, serverNowMs(clock, api));
  if (conditions === previous) return;
  const body = { kind: "merge", document: { status: { conditions } } } as const;
  await api.patch(Resource.kueueChecks, { name, subresource: "status" }, { body, signal });
}
