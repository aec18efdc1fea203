// Image builds of one MachineOSConfig, decided from everything that was read; nothing of earlier decisions counts.
//
//   read ─▶ architectures ─▶ plan ─▶ build there? ── no ──▶ create it
//                                       │ yes
//                                       ├─ goes on ──▶ every architecture a step, then publish
//                                       └─ ended ────▶ set what nodes run, clean up, delete old builds
//
// Questions to registries come first: the same decision is made again with the answers.
import { annotationPatch, type PoolBuildView } from "./effects.ts";
import { membersOf, type UncoveredNode, uncoveredNodes } from "./detect/detect.ts";
import { questionKey, type RegistryQuestion } from "./observed.ts";
import type { MachineOSBuild } from "./parse/machine_os_config.ts";
import { blockingCondition, createBuild, decidePreBuilt, isPreBuilt } from "./reconcile/create_build.ts";
import { buildAgain, checkImages, finishBuild, recordOfEnded } from "./reconcile/finished.ts";
import { decideRebuild, deleteSuperseded, retryDenied } from "./reconcile/rebuild.ts";
import {
  ASK_AGAIN_MS,
  type BuildSubject,
  type DecisionPart,
  decisionPart,
  joinParts,
} from "./reconcile/decision_part.ts";
import {
  configConditions,
  type ConfigProblem,
  detectionEvents,
  type FoundImages,
  poolCondition,
  viewOf,
} from "./reconcile/report.ts";
import { resolvePlan } from "./reconcile/resolve_plan.ts";
import { advanceBuild, buildRecordOf, recordEffects } from "./reconcile/running.ts";
import { nextStateOf } from "./reconcile/build_status.ts";
import { isDone, isTerminal, stateOfBuild } from "./status/aggregate.ts";
import type { BuildPlan, BuildRecord, MachineOSBuildState } from "./types.ts";
import { BUILDER_IMAGES_MAP, GLOBAL_PULL_SECRET_COPY, McoAnnotation } from "./names.ts";
import type { BuildFacts } from "./facts.ts";

export interface ReconcileDecision extends DecisionPart {
  readonly reason: string;
  readonly view: PoolBuildView;
}

export function decideBuild(facts: BuildFacts): ReconcileDecision {
  if (facts.config.meta.isDeleting) return reconcileDecision("deleting", decisionPart(), viewOf(facts, {}));
  if (facts.mcoBuilder === "running") {
    return reconcileDecision("another builder is active", configConditions(facts, undefined), viewOf(facts, {}));
  }
  const { detected, set, plan, effects } = resolvePlan(facts);
  const events = detectionEvents(facts, { detected, set }, effects.length === 0);
  const { uncovered, questions } = uncoveredOf(facts);
  const missing = secretProblem(facts) ?? builderProblem(facts);
  const problem = plan.kind === "error" ? plan : missing;
  const isSeeded = facts.builds.some((build) => build.meta.name === facts.config.status.build && isPreBuilt(build));
  const next = plan.kind === "error" || problem !== undefined ? undefined : decideByPlan(facts, plan);
  const images = next?.images ?? "not checked";
  const impediment = problem ?? next?.problem;
  const found = { problem: impediment, detected, uncovered, isSeeded, images };
  const conditions = configConditions(facts, found);
  // Secrets and the ConfigMap of builder images are not watched, so they are read again after a while.
  const wakeAtMs = missing === undefined ? undefined : facts.nowMs + ASK_AGAIN_MS;
  const commonPart = joinParts([conditions, decisionPart({ questions, effects, events, wakeAtMs })]);
  if (plan.kind === "error" || next === undefined) {
    const view = viewOf(facts, { plan: plan.kind === "plan" ? plan : undefined, uncovered, set, problem });
    return reconcileDecision("cannot plan", commonPart, view);
  }
  const view = viewOf(facts, { ...next, plan, uncovered, set });
  return reconcileDecision(next.reason, joinParts([next.guardedWrites ?? decisionPart(), commonPart, next.part]), view);
}

interface BuildOutcome {
  readonly reason: string;
  readonly part: DecisionPart;
  /** Writes that come before all others, since they are guarded by the resource version that was read. */
  readonly guardedWrites?: DecisionPart;
  readonly build?: MachineOSBuild;
  readonly state?: MachineOSBuildState;
  readonly record?: BuildRecord;
  readonly problem?: ConfigProblem;
  readonly images?: FoundImages;
}

function decideByPlan(facts: BuildFacts, plan: BuildPlan): BuildOutcome {
  const build = facts.builds.find(({ meta }) => meta.name === plan.name);
  const subject = { facts, plan, build };
  const preBuilt = decidePreBuilt(subject);
  if (preBuilt?.kind === "taking over") return { reason: "taking a built image over", part: preBuilt.part };
  const rebuild = decideRebuild(subject);
  if (rebuild.kind === "replacing") return { reason: "replacing the build", part: rebuild.part };
  if (build === undefined) {
    const blocking = blockingCondition(facts);
    if (blocking !== undefined) {
      const message = `Pool "${plan.pool}" has condition ${blocking}: no build starts until it is gone.`;
      return { reason: "pool is degraded", part: decisionPart(), problem: { reason: "PoolDegraded", message } };
    }
    return {
      reason: "creating the build",
      part: createBuild(subject, rebuild.kind === "create" ? rebuild.forced : []),
    };
  }
  if (build.meta.isDeleting) return { reason: "build is going", part: decisionPart(), build };
  const cleanedUp = rebuild.kind === "none" ? rebuild.part : decisionPart();
  const superseded = deleteSuperseded({ facts, plan, build });
  const outcome = (isTerminal(stateOfBuild(build)) ? decideEnded : decideRunning)({ facts, plan, build });
  return {
    ...outcome,
    build,
    part: joinParts([preBuilt?.part ?? decisionPart(), cleanedUp, superseded, outcome.part]),
  };
}

function decideRunning(subject: BuildSubject): BuildOutcome {
  const { facts, plan, build } = subject;
  const { rendered, config: { meta } } = facts;
  if (rendered === undefined) return { reason: "not rendered", part: decisionPart() };
  const { record, part: advanced } = advanceBuild(subject, rendered);
  const state = nextStateOf(build, record);
  const isCurrent = meta.annotations[McoAnnotation.currentBuild] === plan.name;
  const effects = isCurrent ? [] : [annotationPatch("configs", meta, { [McoAnnotation.currentBuild]: plan.name })];
  const guardedWrites = advanced.questions.length > 0 ? decisionPart() : poolCondition(facts, { state, build, record });
  return {
    reason: "build goes on",
    part: joinParts([decisionPart({ effects }), advanced]),
    guardedWrites,
    state,
    record,
  };
}

function decideEnded(subject: BuildSubject): BuildOutcome {
  const { facts, build } = subject;
  const state = stateOfBuild(build);
  if (state !== "Succeeded") {
    const record = buildRecordOf(facts, build);
    const guardedWrites = poolCondition(facts, { state, build, record });
    return { reason: `build ${state}`, part: retryDenied(subject, record), guardedWrites, state, record };
  }
  const record = recordOfEnded(subject);
  if (record === undefined) {
    return {
      reason: "no record",
      part: buildAgain(subject, `The record of build "${build.meta.name}" is gone`),
      state,
    };
  }
  const kept = decisionPart({ effects: recordEffects(subject, record) });
  const guardedWrites = poolCondition(facts, { state, build, record });
  const checked = checkImages(subject, record);
  const done = joinParts([kept, finishBuild(subject, record, checked)]);
  return { reason: "build succeeded", part: done, guardedWrites, state, record, images: checked.found };
}

function secretProblem({ config, secrets }: BuildFacts): ConfigProblem | undefined {
  const named = [
    ["renderedImagePushSecret", config.pushSecret, secrets.push],
    ["baseImagePullSecret", config.pullSecret ?? GLOBAL_PULL_SECRET_COPY, secrets.pull],
  ] as const;
  const [wrong] = named.filter(([, , state]) => state !== "usable");
  if (wrong === undefined) return undefined;
  const [field, name, state] = wrong;
  const what = state === "absent" ? "does not exist" : "is no registry secret";
  return {
    reason: "SecretUnusable",
    message: `Secret "${name}" of ${field} ${what}. Builds wait until it can be used.`,
  };
}

function builderProblem({ settings: { builderImage, namespace } }: BuildFacts): ConfigProblem | undefined {
  if (builderImage !== "") return undefined;
  return {
    reason: "BuilderImageUnknown",
    message: `ConfigMap "${namespace}/${BUILDER_IMAGES_MAP}" names no image that builds. ` +
      "Builds wait until it does. Or name one by imageBuilds.builderImage in the file of --config, and restart Archway.",
  };
}

interface Covering {
  readonly uncovered: readonly UncoveredNode[];
  readonly questions: readonly RegistryQuestion[];
}

/** Nodes whose architecture the published image lacks. Without a record of the image the registry is asked about it. */
function uncoveredOf({ config, builds, records, nodes, pools, answers }: BuildFacts): Covering {
  const build = builds.find(({ meta }) => meta.name === config.status.build);
  const record = records.find(({ buildUid }) => build !== undefined && buildUid === build.meta.uid)?.record;
  const coverageBy = (covered: readonly string[]): Covering => {
    const uncovered = covered.length === 0 ? [] : uncoveredNodes({ pool: config.pool, pools, nodes, covered });
    return { uncovered, questions: [] };
  };
  if (record !== undefined) return coverageBy(record.archs.filter(isDone).map(({ arch }) => arch));
  const reported = new Set(
    membersOf(config.pool, { nodes, pools }).map((node) => node.reportedArchitecture).filter((arch) => arch),
  );
  const { pullSpec = "" } = config.status;
  if (pullSpec === "" || reported.size < 2) return coverageBy([]);
  const question = { kind: "image", reference: pullSpec } as const;
  const answer = answers.get(questionKey(question));
  if (answer === undefined) return { uncovered: [], questions: [question] };
  return coverageBy(answer.kind === "image" ? [answer.platform.architecture] : []);
}

/** A decision with questions has no effects yet, since the answers may change all of them. */
function reconcileDecision(
  reason: string,
  decided: DecisionPart,
  view: PoolBuildView,
): ReconcileDecision {
  const { questions } = decided;
  return questions.length > 0
    ? { reason: "asking registries", ...decisionPart({ questions }), view }
    : { reason, ...decided, view };
}
