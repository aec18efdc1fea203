// How far one architecture is, from its Job, the digest that its pod left and what the registry says of the image:
//
//   Pending ─▶ (Job) Preparing ─▶ Building ─▶ Succeeded      and from each of the three also Failed or Interrupted
//      └─▶ Reused: the image is there
import type { BuildEvent } from "../effects.ts";
import { missingInputs } from "../optional_inputs.ts";
import type { JobObservation, MachineOSBuild, StartingPod } from "../observed.ts";
import { timeOf } from "../parse/meta.ts";
import { questionKey } from "../registry.ts";
import { timeText } from "../status/conditions.ts";
import { jobStateOf } from "../status/job_status.ts";
import type { ArchBuild, ArchPlan, BuildPlan } from "../types.ts";
import type { BuildFacts } from "../facts.ts";
import { ASK_AGAIN_MS, type Part, part } from "./part.ts";
import { decideReuse, mismatchOf } from "./reuse.ts";

/** What a step reads. */
export interface StepContext {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: MachineOSBuild;
  /** Built anew although the image is there. */
  readonly isForced: boolean;
}

/** What a step comes to. */
export interface ArchStep {
  readonly next: ArchBuild;
  /** A Job is to be made for it. */
  readonly wantsJob: boolean;
  readonly part: Part;
}

/** Time that a digest may take to show after its Job has ended (ms). */
const DIGEST_WAIT_MS = 6_000;

/** Advances it. */
export function stepArch(arch: ArchPlan, previous: ArchBuild | undefined, context: StepContext): ArchStep {
  const { facts, build } = context;
  const fresh: ArchBuild = { arch: arch.arch, buildKey: arch.buildKey, state: "Pending", attempts: 0 };
  const before = previous?.buildKey === arch.buildKey ? previous : fresh;
  const job = facts.jobs.find(({ meta }) => meta.name === arch.job);
  switch (before.state) {
    case "Succeeded":
    case "Reused":
    case "Failed":
      return stay(before);
    case "Interrupted":
      return facts.settings.autoResume && job === undefined ? { ...stay({ ...fresh }), wantsJob: true } : stay(before);
    case "Pending":
      return job === undefined ? withoutJob(arch, before, context) : pendingWithJob(arch, before, { ...context, job });
    default: {
      const isTheSame = job !== undefined && job.meta.uid === before.job?.uid && job.build === build.meta.uid;
      return isTheSame ? withJob(arch, before, { ...context, job }) : interrupted(before, context);
    }
  }
}

function stay(next: ArchBuild, given: Partial<Part> = {}): ArchStep {
  return { next, wantsJob: false, part: part(given) };
}

function interrupted(before: ArchBuild, { facts }: StepContext): ArchStep {
  const message = `Job "${before.job?.name ?? ""}" was deleted.`;
  return stay({
    ...before,
    state: "Interrupted",
    reason: "JobDeleted",
    message,
    finishedAt: timeText(facts.nowMs),
  });
}

function pendingWithJob(
  arch: ArchPlan,
  before: ArchBuild,
  context: StepContext & { readonly job: JobObservation },
): ArchStep {
  const { job, build } = context;
  // Another build's Job is adopted or goes with that build; either way there is nothing to do but wait.
  if (job.build !== build.meta.uid) return stay(before);
  if (before.wasLost === true && before.job?.uid === job.meta.uid) {
    const target = { resource: "jobs", name: job.meta.name, uid: job.meta.uid } as const;
    return stay(
      before,
      job.meta.isDeleting ? {} : { effects: [{ kind: "delete", target, propagation: "Foreground" }] },
    );
  }
  return withJob(arch, before, context);
}

function withoutJob(arch: ArchPlan, before: ArchBuild, context: StepContext): ArchStep {
  const { facts, plan, isForced, build } = context;
  if (isForced) return { ...stay(before), wantsJob: true };
  const reuse = decideReuse(arch, { plan, facts });
  switch (reuse.kind) {
    case "ask":
      return stay(before, { questions: [reuse.question] });
    case "wait":
      return stay(before, { wakeAtMs: reuse.retryAtMs ?? facts.nowMs + ASK_AGAIN_MS });
    case "reuse": {
      const { digest, mediaType, size, isUnlabelled, from } = reuse;
      const { arch: name, buildKey, attempts } = before;
      const common = { arch: name, buildKey, attempts, digest, mediaType, size };
      const next: ArchBuild = {
        ...common,
        state: "Reused",
        finishedAt: timeText(facts.nowMs),
        ...(isUnlabelled ? { isUnlabelled } : {}),
        ...(from === undefined ? {} : { from }),
      };
      return stay(next, { events: [reusedEvent(build.meta.name, next)] });
    }
    case "build": {
      const events = reuse.refused.map((message): BuildEvent => ({
        on: "build",
        name: build.meta.name,
        type: "Warning",
        reason: "ArchBuildNotReused",
        message,
      }));
      return { next: before, wantsJob: true, part: part({ events }) };
    }
  }
}

function reusedEvent(name: string, { arch, digest = "" }: ArchBuild): BuildEvent {
  const message = `The image for ${arch} exists: ${digest}. It is not built again.`;
  return { on: "build", name, type: "Normal", reason: "ArchBuildReused", message };
}

function withJob(arch: ArchPlan, before: ArchBuild, context: StepContext & { readonly job: JobObservation }): ArchStep {
  const { job, facts } = context;
  const { name, uid } = job.meta;
  const { waitingSince, message: _said, ...rest } = before;
  const known: ArchBuild = {
    ...rest,
    job: { name, uid },
    attempts: job.failed + Math.min(1, job.active + job.succeeded),
    startedAt: before.startedAt ?? timeText(job.startedMs ?? job.meta.createdMs),
  };
  const finishedAt = timeText(facts.nowMs);
  const state = jobStateOf(job);
  switch (state.kind) {
    case "Failed":
      return stay({ ...known, state: "Failed", finishedAt, reason: state.reason, message: state.message });
    case "Interrupted":
      return interrupted(known, context);
    case "Succeeded":
      return readDigest(arch, { ...known, state: "Building" }, context);
    default: {
      const next: ArchBuild = {
        ...known,
        state: before.state === "Building" || state.kind === "Building" ? "Building" : "Preparing",
      };
      if (job.unschedulable !== undefined) return unschedulable({ ...next, waitingSince }, context);
      return job.starting === undefined ? stay(next) : starting(next, job.starting, context);
    }
  }
}

/** A pod that no node takes is waited for as long as a node that is not there. */
function unschedulable(next: ArchBuild, { job, facts }: StepContext & { readonly job: JobObservation }): ArchStep {
  const { nowMs, settings } = facts;
  const since = timeOf(next.waitingSince) ?? nowMs;
  const untilMs = since + settings.schedulingTimeoutMs;
  const waiting: ArchBuild = { ...next, waitingSince: timeText(since) };
  if (nowMs < untilMs) return stay(waiting, { wakeAtMs: untilMs });
  const message = `No node takes the pod of Job "${job.meta.name}": ${job.unschedulable ?? ""}`;
  const target = { resource: "jobs", name: job.meta.name, uid: job.meta.uid } as const;
  return stay(
    { ...waiting, state: "Failed", reason: "NoNodeForArchitecture", message, finishedAt: timeText(nowMs) },
    { effects: [{ kind: "delete", target, propagation: "Background" }] },
  );
}

/** A pod that its node does not start goes on once what it lacks is there; until then it is said what that is. */
function starting(
  next: ArchBuild,
  pod: StartingPod,
  context: StepContext & { readonly job: JobObservation },
): ArchStep {
  const { job, facts, plan } = context;
  const missing = missingInputs(pod.volumes, { pool: plan.pool, optional: facts.optional });
  const problems = [...missing.map((name) => `${name} is gone`), ...pod.complaints];
  // Objects that go are not watched.
  const wakeAtMs = facts.nowMs + ASK_AGAIN_MS;
  if (problems.length === 0) return stay(next, { wakeAtMs });
  const message = `The pod of Job "${job.meta.name}" cannot start: ${problems.join(", ")}.`;
  return stay({ ...next, message }, { wakeAtMs });
}

/** The Job is complete: which image did it push, and is it the requested one? */
function readDigest(
  arch: ArchPlan,
  known: ArchBuild,
  context: StepContext & { readonly job: JobObservation },
): ArchStep {
  const { facts, plan, job } = context;
  const left = facts.digests.find(({ meta, digest, jobUid }) =>
    meta.name === arch.digestMap && digest !== "" && (jobUid === "" || jobUid === job.meta.uid)
  );
  const waitUntilMs = (completedMs(job) ?? facts.nowMs) + DIGEST_WAIT_MS;
  if (left === undefined && facts.nowMs < waitUntilMs) return stay(known, { wakeAtMs: waitUntilMs });
  // The tag is the Job's own: what it names was pushed by it.
  const reference = left === undefined
    ? `${plan.repository}:${known.tag ?? arch.tag}`
    : `${plan.repository}@${left.digest}`;
  return judgePushed(arch, known, { ...context, reference, isLate: facts.nowMs >= waitUntilMs || left === undefined });
}

/** What the registry says of the image that a Job pushed. `isLate`: it would show by now. */
function judgePushed(
  arch: ArchPlan,
  known: ArchBuild,
  { facts, plan, job, reference, isLate }: StepContext & {
    readonly job: JobObservation;
    readonly reference: string;
    readonly isLate: boolean;
  },
): ArchStep {
  const question = { kind: "image", reference } as const;
  const answer = facts.answers.get(questionKey(question));
  const finishedAt = timeText(facts.nowMs);
  const failed = (reason: ArchBuild["reason"], message: string): ArchStep =>
    stay({ ...known, state: "Failed", reason, message, finishedAt });
  switch (answer?.kind) {
    case undefined:
      return stay(known, { questions: [question] });
    case "image": {
      const isUnlabelled = plan.mode === "single";
      const why = mismatchOf(answer, arch, { reference, isUnlabelled });
      if (why !== undefined) return failed("ArchMismatch", why);
      const { digest, mediaType, size } = answer;
      const pushed = { digest, mediaType, size, ...(isUnlabelled ? { isUnlabelled } : {}) };
      return stay({ ...known, ...pushed, state: "Succeeded", finishedAt });
    }
    case "denied":
      return failed("PushDenied", answer.message);
    case "unusable":
      return failed("ArchMismatch", answer.message);
    case "unknown":
      return stay(known, { wakeAtMs: answer.retryAtMs ?? facts.nowMs + ASK_AGAIN_MS });
    default:
      if (!isLate) return stay(known, { wakeAtMs: facts.nowMs + DIGEST_WAIT_MS });
      return failed("DigestMissing", `Job "${job.meta.name}" is complete, and "${reference}" does not exist.`);
  }
}

function completedMs({ conditions }: JobObservation): number | undefined {
  return timeOf(conditions.find(({ type, status }) => type === "Complete" && status === "True")?.lastTransitionTime);
}
