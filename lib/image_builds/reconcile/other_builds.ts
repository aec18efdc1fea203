// Builds that the plan has left behind: their Jobs go on under the new build where they still build what is wanted, and then
// they go.
import type { BuildEvent, Effect } from "../effects.ts";
import type { JobObservation, MachineOSBuild } from "../observed.ts";
import { ownedBy } from "../job/metadata.ts";
import { stateOfBuild } from "../status/conditions.ts";
import { jobStateOf } from "../status/job_status.ts";
import { setOf } from "../detect/detect.ts";
import type { BuildPlan } from "../types.ts";
import { ArchwayAnnotation, BuildLabel } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { type Part, part } from "./part.ts";

/** Adopts and deletes. `build`: the plan's, which must exist, so that there is something to adopt for. */
export function leaveOthers(
  { facts, plan, build }: { readonly facts: BuildFacts; readonly plan: BuildPlan; readonly build: MachineOSBuild },
): Part {
  const others = facts.builds.filter((other) =>
    other.meta.name !== plan.name && !other.meta.isDeleting && stateOfBuild(other) !== "Succeeded"
  );
  const effects: Effect[] = [];
  const events: BuildEvent[] = [];
  for (const other of others) {
    for (const job of facts.jobs.filter((job) => job.build === other.meta.uid)) {
      if (isAdoptable(job, plan, build)) effects.push(adoption(job, build));
    }
    const { name, uid } = other.meta;
    // A Job that goes on, or is over, has its digest under the same name as the plan's.
    const kept = plan.builds.map(({ digestMap }) => digestMap);
    effects.push(...digestDeletions(facts, other, kept), {
      kind: "delete",
      target: { resource: "builds", name, uid },
      propagation: "Foreground",
    });
    const message = `Build "${name}" is not wanted any more: "${plan.name}" is.`;
    events.push({ on: "config", name: plan.config, type: "Normal", reason: "BuildDeleted", message });
  }
  return part({ effects, events });
}

/** A Job whose image the plan still wants, and that has not failed. */
function isAdoptable(job: JobObservation, plan: BuildPlan, build: MachineOSBuild): boolean {
  const forced = setOf((build.meta.annotations[ArchwayAnnotation.forced] ?? "").split(","));
  const wanted = plan.mode === "index" &&
    plan.builds.some(({ job: name, buildKey, arch }) =>
      name === job.meta.name && buildKey === job.buildKey && !forced.includes(arch)
    );
  const state = jobStateOf(job).kind;
  return wanted && !job.meta.isDeleting && state !== "Failed" && state !== "Interrupted";
}

function adoption({ meta }: JobObservation, build: MachineOSBuild): Effect {
  const { name, uid, resourceVersion } = meta;
  return {
    kind: "adopt job",
    target: { resource: "jobs", name, uid, resourceVersion },
    patch: {
      metadata: {
        resourceVersion,
        ownerReferences: [ownedBy(build)],
        labels: { [BuildLabel.build]: build.meta.name },
        annotations: { [ArchwayAnnotation.build]: build.meta.name },
      },
    },
  };
}

/** Digests that the Jobs of a build left, but those that are `kept`: nothing owns them. */
export function digestDeletions(
  facts: BuildFacts,
  { meta }: Pick<MachineOSBuild, "meta">,
  kept: readonly string[] = [],
): readonly Effect[] {
  const own = facts.digests.filter((digest) =>
    digest.meta.labels[BuildLabel.build] === meta.name && !kept.includes(digest.meta.name)
  );
  return own.map((digest): Effect => ({
    kind: "delete",
    target: { resource: "configMaps", name: digest.meta.name, uid: digest.meta.uid },
    propagation: "Background",
  }));
}
