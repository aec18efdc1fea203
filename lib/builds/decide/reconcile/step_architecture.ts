// How far one architecture is, by its Job, the digest that its pod stored, and the registry's answer about the image:
//
//   Pending ─▶ (Job) Preparing ─▶ Building ─▶ Succeeded      and from each of the three also Failed or Interrupted
//      └─▶ Reused: the image is there
import { parseTime, renderTime } from "../../../vocabulary/time.ts";
import type { BuildFacts } from "../facts.ts";
import { questionKey, type RegistryWait, type StartingPod } from "../observed.ts";
import type { JobObservation } from "../parse/job.ts";
import { missingInputs } from "../optional_inputs.ts";
import { jobStateOf } from "../status/aggregate.ts";
import type { ArchitectureBuild, ArchitecturePlan, BuildFailureReason } from "../types.ts";
import { ASK_AGAIN_MS, type BuildSubject, type DecisionPart, decisionPart } from "./decision_part.ts";
import { decideReuse, mismatchOf } from "./reuse.ts";
import { deletion, normal, warning } from "../effects.ts";

interface StepContext extends BuildSubject {
  readonly isForced: boolean;
}

interface JobContext extends BuildSubject {
  readonly job: JobObservation;
  readonly unanswered?: Pick<ArchitectureBuild, "message" | "unansweredSince">;
}

export interface ArchitectureStep {
  readonly next: ArchitectureBuild;
  readonly wantsJob: boolean;
  readonly part: DecisionPart;
}

/** Wait (ms) for a Job's digest after the Job has ended. */
const DIGEST_WAIT_MS = 6_000;

export function stepArchitecture(
  arch: ArchitecturePlan,
  previous: ArchitectureBuild | undefined,
  context: StepContext,
): ArchitectureStep {
  const { facts, build } = context;
  const fresh: ArchitectureBuild = { arch: arch.arch, buildKey: arch.buildKey, state: "Pending", attempts: 0 };
  const before = previous?.buildKey === arch.buildKey ? previous : fresh;
  const job = facts.jobs.find(({ meta }) => meta.name === arch.jobName);
  switch (before.state) {
    case "Succeeded":
    case "Reused":
    case "Failed":
      return stay(before);
    case "Interrupted":
      return facts.settings.autoResume && job === undefined ? { ...stay(fresh), wantsJob: true } : stay(before);
    case "Pending":
      return job === undefined ? withoutJob(arch, before, context) : pendingWithJob(arch, before, { ...context, job });
    case "Preparing":
    case "Building": {
      const isTheSame = job !== undefined && job.meta.uid === before.job?.uid && job.buildUid === build.meta.uid;
      return isTheSame ? withJob(arch, before, { ...context, job }) : interrupted(before, facts);
    }
  }
}

function stay(next: ArchitectureBuild, given: Partial<DecisionPart> = {}): ArchitectureStep {
  return { next, wantsJob: false, part: decisionPart(given) };
}

export function failedBuild(
  one: ArchitectureBuild,
  { reason, message = one.message }: { readonly reason: BuildFailureReason; readonly message?: string },
  { nowMs, secretVersions }: Pick<BuildFacts, "nowMs" | "secretVersions">,
): ArchitectureBuild {
  const denied = reason === "PushDenied" ? { deniedVersion: secretVersions.push } : {};
  return { ...one, ...denied, state: "Failed", reason, message, finishedAt: renderTime(nowMs) };
}

function interrupted(before: ArchitectureBuild, { nowMs }: BuildFacts): ArchitectureStep {
  const message = `Job "${before.job?.name ?? ""}" was deleted.`;
  return stay({ ...before, state: "Interrupted", reason: "JobDeleted", message, finishedAt: renderTime(nowMs) });
}

function pendingWithJob(arch: ArchitecturePlan, before: ArchitectureBuild, context: JobContext): ArchitectureStep {
  const { job, build } = context;
  // Another build's Job is adopted or goes with that build; either way there is nothing to do but wait.
  if (job.buildUid !== build.meta.uid) return stay(before);
  const hasLostImage = before.wasLost === true && before.job?.uid === job.meta.uid;
  if (!hasLostImage) return withJob(arch, before, context);
  return stay(before, job.meta.isDeleting ? {} : { effects: [deletion("jobs", job.meta, "Foreground")] });
}

function withoutJob(plan: ArchitecturePlan, before: ArchitectureBuild, context: StepContext): ArchitectureStep {
  const { facts, isForced, build } = context;
  if (isForced) return { ...stay(before), wantsJob: true };
  const { name } = build.meta;
  const reuse = decideReuse(plan, context);
  switch (reuse.kind) {
    case "ask":
      return stay(before, { questions: [reuse.question] });
    case "wait":
      return waitForRegistry(before, reuse, facts);
    case "reuse": {
      const { digest, mediaType, size, isUnlabelled, from, base } = reuse;
      const { arch, buildKey, attempts } = before;
      const next: ArchitectureBuild = {
        arch,
        buildKey,
        attempts,
        digest,
        mediaType,
        size,
        state: "Reused",
        finishedAt: renderTime(facts.nowMs),
        ...(isUnlabelled ? { isUnlabelled } : {}),
        ...(from === undefined ? {} : { from }),
        ...(from === context.plan.jobRepository ? { isStaged: true } : {}),
        ...(base === undefined ? {} : { base }),
      };
      const message = `The image for ${arch} exists: ${digest}. It is not built again.`;
      return stay(next, { events: [normal(["build", name], "ArchBuildReused", message)] });
    }
    case "build": {
      const events = reuse.refused.map((message) => warning(["build", name], "ArchBuildNotReused", message));
      return { next: before, wantsJob: true, part: decisionPart({ events }) };
    }
  }
}

function withJob(arch: ArchitecturePlan, before: ArchitectureBuild, context: JobContext): ArchitectureStep {
  const { job, facts } = context;
  const { name, uid } = job.meta;
  const { waitingSince, unansweredSince, message, ...rest } = before;
  const unanswered = unansweredSince === undefined ? {} : { message, unansweredSince };
  const known: ArchitectureBuild = {
    ...rest,
    job: { name, uid },
    attempts: job.failed + Math.min(1, job.active + job.succeeded),
    startedAt: before.startedAt ?? renderTime(job.startedMs ?? job.meta.createdMs),
  };
  const state = jobStateOf(job);
  switch (state.kind) {
    case "Failed":
      return stay(failedBuild(known, state, facts));
    case "Interrupted":
      return interrupted(known, facts);
    case "Succeeded":
      return readDigest(arch, { ...known, state: "Building" }, { ...context, unanswered });
    case "Prepared":
    case "Building": {
      const isBuilding = before.state === "Building" || state.kind === "Building";
      const next: ArchitectureBuild = { ...known, state: isBuilding ? "Building" : "Preparing" };
      if (job.unschedulable !== undefined) {
        return unschedulable({ ...next, waitingSince }, context);
      }
      return job.starting === undefined ? stay(next) : starting(next, job.starting, context);
    }
  }
}

/** Waits for a node until `schedulingTimeout` is over; then the architecture has failed. */
export function waitForNode(before: ArchitectureBuild, facts: BuildFacts): ArchitectureStep {
  const since = parseTime(before.waitingSince) ?? facts.nowMs;
  const untilMs = since + facts.settings.schedulingTimeout;
  const next: ArchitectureBuild = { ...before, waitingSince: renderTime(since) };
  if (facts.nowMs < untilMs) return stay(next, { wakeAtMs: untilMs });
  return stay(failedBuild(next, { reason: "NoNodeForArchitecture" }, facts));
}

/** How long a registry that gives no answer is asked (ms). */
const REGISTRY_TIMEOUT_MS = 60 * 60_000;

/** Asks the registry again until the time for that is over. The message says what is waited for. */
export function waitForRegistry(
  before: ArchitectureBuild,
  { message, retryAfterMs = ASK_AGAIN_MS }: Pick<RegistryWait, "message" | "retryAfterMs">,
  facts: BuildFacts,
): ArchitectureStep {
  const since = parseTime(before.unansweredSince) ?? facts.nowMs;
  const isKnown = before.unansweredSince !== undefined;
  // The first message stays: a new one would be a write, and the write would trigger the next reconcile at once.
  const reason = isKnown ? before.message : message;
  const next: ArchitectureBuild = { ...before, message: reason, unansweredSince: renderTime(since) };
  if (facts.nowMs < since + REGISTRY_TIMEOUT_MS) return stay(next, { wakeAtMs: facts.nowMs + retryAfterMs });
  return stay(failedBuild(next, { reason: "RegistryUnavailable" }, facts));
}

export function withoutRegistryWait(before: ArchitectureBuild): ArchitectureBuild {
  const { unansweredSince, message: _said, ...rest } = before;
  return unansweredSince === undefined ? before : rest;
}

/** A Job whose pod fits no node waits as long as an architecture that has no node. */
function unschedulable(before: ArchitectureBuild, { job, facts }: JobContext): ArchitectureStep {
  const waited = waitForNode(before, facts);
  if (waited.next.state !== "Failed") return waited;
  const message = `No node takes the pod of Job "${job.meta.name}": ${job.unschedulable ?? ""}`;
  return stay({ ...waited.next, message }, { effects: [deletion("jobs", job.meta, "Background")] });
}

/** A pod that cannot start goes on once the missing objects exist. The message names them. */
function starting(next: ArchitectureBuild, pod: StartingPod, { job, facts, plan }: JobContext): ArchitectureStep {
  const missing = missingInputs(pod.volumes, { pool: plan.pool, optional: facts.optionalInputs });
  const problems = [...missing.map((name) => `${name} is gone`), ...pod.complaints];
  // The watch of the pod does not show the deletion of what it mounts.
  const wakeAtMs = facts.nowMs + ASK_AGAIN_MS;
  if (problems.length === 0) return stay(next, { wakeAtMs });
  const message = `The pod of Job "${job.meta.name}" cannot start: ${problems.join(", ")}.`;
  return stay({ ...next, message }, { wakeAtMs });
}

function readDigest(arch: ArchitecturePlan, known: ArchitectureBuild, context: JobContext): ArchitectureStep {
  const { facts, plan, job } = context;
  const left = facts.digests.find(({ meta, digest, jobUid }) =>
    meta.name === arch.digestConfigMapName && digest !== "" && (jobUid === "" || jobUid === job.meta.uid)
  );
  const waitUntilMs = (completedMs(job) ?? facts.nowMs) + DIGEST_WAIT_MS;
  if (left === undefined && facts.nowMs < waitUntilMs) return stay(known, { wakeAtMs: waitUntilMs });
  // Without a stored digest the tag will do, since only this Job pushes to it.
  const reference = left === undefined
    ? `${plan.jobRepository}:${known.tag ?? arch.tag}`
    : `${plan.jobRepository}@${left.digest}`;
  return judgePushed(arch, known, { ...context, reference, isLate: facts.nowMs >= waitUntilMs || left === undefined });
}

/** Judges the image that a Job pushed by the registry's answer. `isLate`: the image would be visible by now. */
function judgePushed(
  arch: ArchitecturePlan,
  known: ArchitectureBuild,
  context: JobContext & { readonly reference: string; readonly isLate: boolean },
): ArchitectureStep {
  const { facts, plan, job, reference, isLate } = context;
  const question = { kind: "image", reference } as const;
  const answer = facts.answers.get(questionKey(question));
  const failed = (reason: BuildFailureReason, message: string): ArchitectureStep =>
    stay(failedBuild(known, { reason, message }, facts));
  switch (answer?.kind) {
    case undefined:
      return stay(known, { questions: [question] });
    case "image": {
      const isUnlabelled = plan.mode === "single";
      const why = mismatchOf(answer, arch, { reference, isUnlabelled });
      if (why !== undefined) return failed("ArchMismatch", why);
      const { digest, mediaType, size } = answer;
      const staged = plan.jobRepository === plan.repository ? {} : { from: plan.jobRepository, isStaged: true };
      const pushed = { digest, mediaType, size, ...(isUnlabelled ? { isUnlabelled } : {}), ...staged };
      return stay({ ...known, ...pushed, state: "Succeeded", finishedAt: renderTime(facts.nowMs) });
    }
    case "denied":
      return failed("PushDenied", answer.message);
    case "unusable":
      return failed("ArchMismatch", answer.message);
    case "unknown":
      return waitForRegistry({ ...known, ...context.unanswered }, answer, facts);
    case "absent":
    case "exists":
    case "granted":
    case "platforms":
      if (!isLate) return stay(known, { wakeAtMs: facts.nowMs + DIGEST_WAIT_MS });
      return failed("DigestMissing", `Job "${job.meta.name}" is complete, and "${reference}" does not exist.`);
  }
}

function completedMs({ conditions }: JobObservation): number | undefined {
  return parseTime(conditions.find(({ type, status }) => type === "Complete" && status === "True")?.lastTransitionTime);
}
