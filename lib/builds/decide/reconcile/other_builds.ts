// Builds that the plan has left behind go; their Jobs go on under the new build where it wants what they build.
import type { Effect, Part } from "../effects.ts";
import type { JobObservation, MachineOSBuild } from "../observed.ts";
import { ownedBy } from "../job/pod.ts";
import { stateOfBuild } from "../status/conditions.ts";
import { jobStateOf } from "../status/aggregate.ts";
import type { BuildPlan } from "../types.ts";
import { ArchwayAnnotation, BuildLabel } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { forcedOf } from "./create_build.ts";
import { deletion, normal, part, type Scope } from "./part.ts";

export function leaveOthers({ facts, plan, build }: Scope): Part {
  const others = facts.builds.filter((other) =>
    other.meta.name !== plan.name && !other.meta.isDeleting && stateOfBuild(other) !== "Succeeded"
  );
  // A Job that goes on, or is over, has its digest under the same name as the plan's.
  const kept = plan.builds.map(({ digestMap }) => digestMap);
  return part({
    effects: others.flatMap((other) => [
      ...facts.jobs.filter((job) => job.build === other.meta.uid && isAdoptable(job, plan, build))
        .map((job) => adoption(job, build)),
      ...digestDeletions(facts, other, kept),
      deletion("builds", other.meta, "Foreground"),
    ]),
    events: others.map(({ meta: { name } }) => {
      const message = `Build "${name}" is not wanted any more: "${plan.name}" is.`;
      return normal(["config", plan.config], "BuildDeleted", message);
    }),
  });
}

function isAdoptable(job: JobObservation, plan: BuildPlan, build: MachineOSBuild): boolean {
  const forced = forcedOf(build);
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
    kind: "patch",
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
  return facts.digests.filter((digest) =>
    digest.meta.labels[BuildLabel.build] === meta.name && !kept.includes(digest.meta.name)
  ).map((digest) => deletion("configMaps", digest.meta, "Background"));
}
