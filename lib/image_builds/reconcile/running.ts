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
import type { World } from "../facts.ts";
import { setOf } from "../detect/detect.ts";
import { buildEvents } from "./build_events.ts";
import { buildStatusEffects } from "./build_status.ts";
import { joinParts, type Part, part } from "./part.ts";
import { assembleEffect } from "./publish.ts";
import { startJobs } from "./start_jobs.ts";
import { stepArch } from "./step_arch.ts";

/** A build that goes on. */
export interface RunningInput {
  readonly world: World;
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
export function recordOf({ records }: World, { meta }: MachineOSBuild): BuildRecord {
  const stored = records.find(({ name, buildUid }) => name === recordName(meta.name) && buildUid === meta.uid);
  return stored?.record ?? { archs: [], index: EMPTY_INDEX };
}

/** Advances it. */
export function advanceBuild(input: RunningInput): Advanced {
  const { world, plan, build, rendered } = input;
  const before = recordOf(world, build);
  const forced = setOf((build.meta.annotations[ArchwayAnnotation.forced] ?? "").split(","));
  const steps = plan.builds.map((arch) =>
    stepArch(arch, before.archs.find((one) => one.arch === arch.arch), {
      world,
      plan,
      build,
      isForced: forced.includes(arch.arch),
    })
  );
  const stepped = joinParts(steps.map((step) => step.part));
  if (stepped.questions.length > 0) return { record: before, part: stepped };
  const started = startJobs({ world, plan, build, rendered, steps });
  if (started.part.questions.length > 0) return { record: before, part: started.part };
  const record: BuildRecord = { archs: started.archs, index: before.index };
  const siblings = cancelled(started.archs, world);
  const status = buildStatusEffects({ build, plan, record, namespace: world.settings.namespace, nowMs: world.nowMs });
  const publishing = record.archs.every(isDone) ? assembleEffect({ plan, build, record, world }) : part();
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
  { world, build }: Omit<RunningInput, "rendered" | "plan">,
  record: BuildRecord,
): readonly Effect[] {
  const name = recordName(build.meta.name);
  const stored = world.records.find((one) => one.name === name);
  const isSame = stored?.buildUid === build.meta.uid && canonical(stored.record) === canonical(record);
  if (isSame) return [];
  const object = renderRecord(record, { build, namespace: world.settings.namespace });
  return [{ kind: "write record", name, record, object, previousVersion: stored?.resourceVersion }];
}

function cancelled(archs: readonly ArchBuild[], { settings, jobs }: World): readonly Effect[] {
  if (!settings.cancelSiblings || !archs.some(({ state }) => state === "Failed")) return [];
  return archs.filter(isRunning).flatMap(({ job }): readonly Effect[] => {
    const there = jobs.find(({ meta }) => meta.uid === job?.uid && !meta.isDeleting);
    if (there === undefined) return [];
    const { name, uid } = there.meta;
    return [{ kind: "delete", target: { resource: "jobs", name, uid }, propagation: "Foreground" }];
  });
}

/** Objects of a Job that was made when the controller ended before they became its own: made its own now. */
function ownerEffects({ world, plan, build, rendered }: RunningInput, { archs }: BuildRecord): readonly Effect[] {
  return archs.filter(isRunning).flatMap(({ job, arch: name, tag }): readonly Effect[] => {
    const arch = plan.builds.find((one) => one.arch === name);
    const there = world.jobs.find(({ meta, build: owner }) => meta.uid === job?.uid && owner === build.meta.uid);
    if (arch === undefined || there === undefined || there.meta.isDeleting) return [];
    // An adopted Job has its objects under the names of the build that made it.
    if (there.meta.annotations[McoAnnotation.build] !== plan.name) return [];
    const effect = renderJob({ plan, arch, build, rendered, world, tolerations: [], tag: tag ?? arch.tag });
    const own = [...effect.configMaps, ...effect.secrets.map(({ object }) => object)].map(({ metadata }) =>
      metadata.name
    );
    const isOwned = own.every((child) =>
      world.children.some((one) => one.name === child && one.owners.some(({ uid }) => uid === job?.uid))
    );
    return isOwned ? [] : [effect];
  });
}
