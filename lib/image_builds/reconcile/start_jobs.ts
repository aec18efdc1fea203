// Which architectures get their Job now: after the preflight, where a node can take it, as many at a time as allowed, and
// none once another architecture has failed.
import { renderJob } from "../job/job_object.ts";
import { nodesFor } from "../job/nodes_for.ts";
import { preflight } from "../job/preflight.ts";
import type { BuildEvent } from "../effects.ts";
import type { MachineOSBuild, RenderedConfig } from "../observed.ts";
import { timeOf } from "../parse/meta.ts";
import { isRunning } from "../status/aggregate.ts";
import { timeText } from "../status/conditions.ts";
import type { ArchBuild, ArchPlan, BuildPlan } from "../types.ts";
import type { BuildFacts } from "../facts.ts";
import { ASK_AGAIN_MS, joinParts, type Part, part } from "./part.ts";
import type { ArchStep } from "./step_arch.ts";

/** What starting reads. */
export interface StartInput {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: MachineOSBuild;
  readonly rendered: RenderedConfig;
  /** One for each architecture of the plan, in its order. */
  readonly steps: readonly ArchStep[];
}

/** The architectures afterwards, and what is to be done. */
export interface Started {
  readonly archs: readonly ArchBuild[];
  readonly part: Part;
}

/** Decides it. */
export function startJobs(input: StartInput): Started {
  const { steps, plan, facts, rendered } = input;
  const archs = steps.map(({ next }) => next);
  const wanted = steps.filter(({ wantsJob }) => wantsJob).map(({ next }) => next.arch);
  const hasFailed = archs.some(({ state }) => state === "Failed");
  if (wanted.length === 0 || hasFailed) return { archs, part: part() };
  const judged = preflight({ plan, rendered, archs: wanted, answers: facts.answers });
  switch (judged.kind) {
    case "ask":
      return { archs, part: part({ questions: judged.questions }) };
    case "wait":
      return { archs, part: part({ wakeAtMs: judged.retryAtMs ?? facts.nowMs + ASK_AGAIN_MS }) };
    case "failed":
      return {
        archs: archs.map((one) => {
          const failure = judged.failures.find(({ arch }) => arch === one.arch);
          if (failure === undefined) return one;
          const { reason, message } = failure;
          return { ...one, state: "Failed", reason, message, finishedAt: timeText(facts.nowMs) };
        }),
        part: part(),
      };
    case "ready":
      return startOnNodes(input);
  }
}

function startOnNodes(input: StartInput): Started {
  const { steps, facts, plan } = input;
  const { maxParallel } = facts.settings;
  let free = (maxParallel === 0 ? Infinity : maxParallel) - steps.filter(({ next }) => isRunning(next)).length;
  const outcomes = steps.map(({ next, wantsJob }): { readonly one: ArchBuild; readonly part: Part } => {
    const arch = plan.builds.find((build) => build.arch === next.arch);
    if (!wantsJob || arch === undefined) return { one: next, part: part() };
    if (free <= 0) return { one: next, part: part() };
    const outcome = startOne(arch, next, input);
    if (outcome.part.effects.length > 0) free--;
    return outcome;
  });
  return { archs: outcomes.map(({ one }) => one), part: joinParts(outcomes.map((outcome) => outcome.part)) };
}

function startOne(
  arch: ArchPlan,
  before: ArchBuild,
  { facts, plan, build, rendered }: StartInput,
): { readonly one: ArchBuild; readonly part: Part } {
  const { nodes, settings, nowMs } = facts;
  const place = nodesFor(arch.arch, { nodes, toleratesDedicated: settings.tolerateDedicated });
  if (place.kind === "none") return waitForNode(before, place.message, facts);
  const { waitingSince: _waited, ...one } = before;
  const tag = one.tag ?? arch.tag;
  const effect = renderJob({ plan, arch, build, rendered, facts, tolerations: place.tolerations, tag });
  const message = `Job "${arch.job}" builds the image for ${arch.arch}.`;
  const event = { on: "build", name: build.meta.name, type: "Normal", message } as const;
  const events: readonly BuildEvent[] = ["ArchBuildStarted", "JobCreated"].map((reason) => ({ ...event, reason }));
  // The Job is found by its name once it is there: until then nothing says that it ever was.
  return { one, part: part({ effects: [effect], events, wakeAtMs: nowMs + ASK_AGAIN_MS }) };
}

function waitForNode(
  before: ArchBuild,
  message: string,
  { nowMs, settings }: BuildFacts,
): { readonly one: ArchBuild; readonly part: Part } {
  const since = timeOf(before.waitingSince) ?? nowMs;
  const untilMs = since + settings.schedulingTimeoutMs;
  const waiting: ArchBuild = { ...before, waitingSince: timeText(since), message };
  if (nowMs < untilMs) return { one: waiting, part: part({ wakeAtMs: untilMs }) };
  return {
    one: { ...waiting, state: "Failed", reason: "NoNodeForArchitecture", finishedAt: timeText(nowMs) },
    part: part(),
  };
}
