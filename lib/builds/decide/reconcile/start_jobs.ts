// Starts the Jobs of architectures: after the preflight, where a node can take the pod, and while none has failed.
import type { BuildFacts } from "../facts.ts";
import { renderJob } from "../job/job_object.ts";
import { nodesFor, preflight } from "../job/preflight.ts";
import { questionKey, type RegistryAnswer } from "../observed.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { isRunning } from "../status/aggregate.ts";
import type { ArchitectureBuild, ArchitecturePlan } from "../types.ts";
import { ASK_AGAIN_MS, type BuildSubject, type DecisionPart, decisionPart, joinParts } from "./decision_part.ts";
import {
  type ArchitectureStep,
  failedBuild,
  waitForNode,
  waitForRegistry,
  withoutRegistryWait,
} from "./step_architecture.ts";
import { cutReference } from "../../../oci/reference.ts";
import { normal } from "../effects.ts";

interface StartedJobs {
  readonly archs: readonly ArchitectureBuild[];
  readonly part: DecisionPart;
}

type Outcome = Pick<ArchitectureStep, "next" | "part">;

/** `steps`: one for each architecture of the plan, in its order. */
export function startJobs(
  subject: BuildSubject,
  configured: RenderedConfig,
  steps: readonly ArchitectureStep[],
): StartedJobs {
  const { plan, facts } = subject;
  const archs = steps.map(({ next }) => next);
  const rendered = withBase(configured, archs);
  const wanted = steps.filter(({ wantsJob }) => wantsJob).map(({ next }) => next.arch);
  const hasFailed = archs.some(({ state }) => state === "Failed");
  if (wanted.length === 0 || hasFailed) return { archs, part: decisionPart() };
  const judged = preflight({ plan, rendered, archs: wanted, answers: facts.answers });
  switch (judged.kind) {
    case "ask":
      return { archs, part: decisionPart({ questions: judged.questions }) };
    case "wait": {
      const waits = steps.map((step) => step.wantsJob ? waitForRegistry(step.next, judged, facts) : step);
      return { archs: waits.map(({ next }) => next), part: joinParts(waits.map((step) => step.part)) };
    }
    case "failed":
      return {
        archs: archs.map((one) => {
          const failure = judged.failures.find(({ arch }) => arch === one.arch);
          return failure === undefined ? one : failedBuild(one, failure, facts);
        }),
        part: decisionPart(),
      };
    case "ready": {
      const base = archs.find((one) => one.base !== undefined)?.base ?? resolveBase(configured, facts.answers);
      const isRecorded = steps.every(({ next, wantsJob }) => !wantsJob || next.base === base);
      return isRecorded ? startOnNodes(subject, rendered, steps) : recordBase(steps, base, facts);
    }
  }
}

/** Records the base image before the first Job, so that all Jobs build from the same one, also after a restart. */
function recordBase(steps: readonly ArchitectureStep[], base: string | undefined, { nowMs }: BuildFacts): StartedJobs {
  const archs = steps.map(({ next, wantsJob }) => wantsJob ? { ...withoutRegistryWait(next), base } : next);
  return { archs, part: decisionPart({ wakeAtMs: nowMs + ASK_AGAIN_MS }) };
}

function startOnNodes(
  subject: BuildSubject,
  rendered: RenderedConfig,
  steps: readonly ArchitectureStep[],
): StartedJobs {
  const { maxParallel } = subject.facts.settings;
  let free = (maxParallel === 0 ? Infinity : maxParallel) - steps.filter(({ next }) => isRunning(next)).length;
  const outcomes = steps.map(({ next: waited, wantsJob }): Outcome => {
    const next = wantsJob ? withoutRegistryWait(waited) : waited;
    const arch = subject.plan.builds.find((build) => build.arch === next.arch);
    if (!wantsJob || arch === undefined || free <= 0) return { next, part: decisionPart() };
    const outcome = startOne(arch, next, subject, rendered);
    if (outcome.part.effects.length > 0) free--;
    return outcome;
  });
  return { archs: outcomes.map(({ next }) => next), part: joinParts(outcomes.map((outcome) => outcome.part)) };
}

function startOne(
  arch: ArchitecturePlan,
  before: ArchitectureBuild,
  subject: BuildSubject,
  rendered: RenderedConfig,
): Outcome {
  const { facts, plan, build } = subject;
  const { nodes, settings, nowMs } = facts;
  const suitable = nodesFor(arch.arch, { nodes, toleratesDedicated: settings.tolerateDedicated });
  if (suitable.kind === "none") return waitForNode({ ...before, message: suitable.message }, facts);
  const { waitingSince: _waited, ...next } = before;
  const tag = next.tag ?? arch.tag;
  const effect = renderJob({ plan, arch, build, rendered, facts, tolerations: suitable.tolerations, tag });
  const message = `Job "${arch.jobName}" builds the image for ${arch.arch}.`;
  const events = ["ArchBuildStarted", "JobCreated"].map((reason) =>
    normal(["build", build.meta.name], reason, message)
  );
  // The record names the Job once it has been seen; until then it is looked for by its name.
  return { next, part: decisionPart({ effects: [effect], events, wakeAtMs: nowMs + ASK_AGAIN_MS }) };
}

export function withBase(rendered: RenderedConfig, archs: readonly Pick<ArchitectureBuild, "base">[]): RenderedConfig {
  const base = archs.find((one) => one.base !== undefined)?.base;
  return base === undefined ? rendered : { ...rendered, osImageURL: base };
}

function resolveBase(
  { osImageURL }: Pick<RenderedConfig, "osImageURL">,
  answers: ReadonlyMap<string, RegistryAnswer>,
): string | undefined {
  const { name, digest } = cutReference(osImageURL);
  if (digest !== undefined) return undefined;
  const answer = answers.get(questionKey({ kind: "platforms", reference: osImageURL }));
  return answer?.kind === "platforms" ? `${name}@${answer.digest}` : undefined;
}
