// A build that has not ended: every architecture one step on, Jobs for those that need one, and the whole published when all
// are done.
import type { BuildEvent, Effect } from "../effects.ts";
import { renderJob } from "../job/job_object.ts";
import type { MachineOSBuild, RenderedConfig } from "../observed.ts";
import { canonical } from "../plan/canonical.ts";
import { EMPTY_INDEX, renderRecord } from "../status/record.ts";
import { isDone, isRunning } from "../status/aggregate.ts";
import type { ArchBuild, BuildPlan, BuildRecord } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation, recordName } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { setOf } from "../detect/detect.ts";
import { buildEvents } from "./build_events.ts";
import { buildStatusEffects } from "./build_status.ts";
import { joinParts, type Part, part } from "./part.ts";
import { assembleEffect } from "./publish.ts";
import { startJobs } from "./start_jobs.ts";
import { stepArch } from "./step_arch.ts";

/** A build that goes on. */
export interface RunningInput {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: MachineOSBuild;
  readonly rendered: RenderedConfig;
}

/** What comes of it: with questions, nothing else counts. */
export interface Advanced {
  readonly record: BuildRecord;
  readonly part: Part;
}

/** The record of a build; that of another build of the same name does not count. */
export function recordOf({ records }: BuildFacts, { meta }: MachineOSBuild): BuildRecord {
  const stored = records.find(({ name, buildUid }) => name === recordName(meta.name) && buildUid === meta.uid);
  return stored?.record ?? { archs: [], index: EMPTY_INDEX };
}

/** Advances it. */
export function advanceBuild(input: RunningInput): Advanced {
  const { facts, plan, build, rendered } = input;
  const before = recordOf(facts, build);
  const forced = setOf((build.meta.annotations[ArchwayAnnotation.forced] ?? "").split(","));
  const steps = plan.builds.map((arch) =>
    stepArch(arch, before.archs.find((one) => one.arch === arch.arch), {
      facts,
      plan,
      build,
      isForced: forced.includes(arch.arch),
    })
  );
  const stepped = joinParts(steps.map((step) => step.part));
  if (stepped.questions.length > 0) return { record: before, part: stepped };
  const started = startJobs({ facts, plan, build, rendered, steps });
  if (started.part.questions.length > 0) return { record: before, part: started.part };
  const record: BuildRecord = { archs: started.archs, index: before.index };
  const siblings = cancelled(started.archs, facts);
  const status = buildStatusEffects({ build, plan, record, namespace: facts.settings.namespace, nowMs: facts.nowMs });
  const publishing = record.archs.every(isDone) ? assembleEffect({ plan, build, record, facts }) : part();
  const events: readonly BuildEvent[] = buildEvents({ build, record }, before);
  return {
    record,
    part: joinParts([
      stepped,
      started.part,
      part({
        effects: [...siblings, ...ownerEffects(input, record), ...recordEffects(input, record), ...status],
        events,
      }),
      publishing,
    ]),
  };
}

/** The write of a record that changed. */
export function recordEffects(
  { facts, build }: Omit<RunningInput, "rendered" | "plan">,
  record: BuildRecord,
): readonly Effect[] {
  const name = recordName(build.meta.name);
  const stored = facts.records.find((one) => one.name === name);
  const isSame = stored?.buildUid === build.meta.uid && canonical(stored.record) === canonical(record);
  if (isSame) return [];
  const object = renderRecord(record, { build, namespace: facts.settings.namespace });
  return [{ kind: "write record", name, record, object, previousVersion: stored?.resourceVersion }];
}

function cancelled(archs: readonly ArchBuild[], { settings, jobs }: BuildFacts): readonly Effect[] {
  if (!settings.cancelSiblings || !archs.some(({ state }) => state === "Failed")) return [];
  return archs.filter(isRunning).flatMap(({ job }): readonly Effect[] => {
    const there = jobs.find(({ meta }) => meta.uid === job?.uid && !meta.isDeleting);
    if (there === undefined) return [];
    const { name, uid } = there.meta;
    return [{ kind: "delete", target: { resource: "jobs", name, uid }, propagation: "Foreground" }];
  });
}

/** Objects of a Job that was made when the controller ended before they became its own: made its own now. */
function ownerEffects({ facts, plan, build, rendered }: RunningInput, { archs }: BuildRecord): readonly Effect[] {
  return archs.filter(isRunning).flatMap(({ job, arch: name, tag }): readonly Effect[] => {
    const arch = plan.builds.find((one) => one.arch === name);
    const there = facts.jobs.find(({ meta, build: owner }) => meta.uid === job?.uid && owner === build.meta.uid);
    if (arch === undefined || there === undefined || there.meta.isDeleting) return [];
    // An adopted Job has its objects under the names of the build that made it.
    if (there.meta.annotations[McoAnnotation.build] !== plan.name) return [];
    const effect = renderJob({ plan, arch, build, rendered, facts, tolerations: [], tag: tag ?? arch.tag });
    const own = [...effect.configMaps, ...effect.secrets.map(({ object }) => object)].map(({ metadata }) =>
      metadata.name
    );
    const isOwned = own.every((child) =>
      facts.children.some((one) => one.name === child && one.owners.some(({ uid }) => uid === job?.uid))
    );
    return isOwned ? [] : [effect];
  });
}
