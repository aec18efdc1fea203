// A rebuild that a user requests by an annotation, or that a changed push secret makes possible. It takes four writes,
// each of which can be the last before a restart:
//
//   annotation ─▶ 1 note which build is replaced, and which architectures ─▶ 2 delete it ─▶ 3 create it anew, marked with the
//   architectures ─▶ 4 remove both annotations
import type { KnownArchitecture } from "../../../arch.ts";
import type { JobObservation } from "../parse/job.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import { isDone, jobStateOf, stateOfBuild } from "../status/aggregate.ts";
import { architectureSetOf } from "../detect/detect.ts";
import type { ArchitectureSet, BuildPlan, BuildRecord } from "../types.ts";
import { ArchwayAnnotation, BuildLabel, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { ASK_AGAIN_MS, type BuildSubject, type DecisionPart, decisionPart } from "./decision_part.ts";
import { buildRecordOf } from "./running.ts";
import { annotationPatch, type BuildEffect, deletion, normal, warning } from "../effects.ts";
import { ownedBy } from "../job/pod.ts";
import { forcedOf } from "./create_build.ts";

type Rebuild =
  /** The build goes on. `part` removes annotations that are done with. */
  | { readonly kind: "none"; readonly part: DecisionPart }
  | { readonly kind: "replacing"; readonly part: DecisionPart }
  /** The build is gone: it is to be created with these architectures marked. */
  | { readonly kind: "create"; readonly forced: ArchitectureSet };

type RebuildSubject = BuildSubject<MachineOSBuild | undefined>;

export function decideRebuild(subject: RebuildSubject): Rebuild {
  const { facts, build } = subject;
  const { annotations, name } = facts.config.meta;
  const asked = annotations[McoAnnotation.rebuild];
  const noted = annotations[ArchwayAnnotation.rebuilding];
  if (noted !== undefined) {
    const [uid, archs = ""] = noted.split(":");
    if (build === undefined) return { kind: "create", forced: architectureSetOf(archs.split(",")) };
    if (build.meta.uid === uid) return { kind: "replacing", part: replace(facts, build) };
    const cleared = { [McoAnnotation.rebuild]: null, [ArchwayAnnotation.rebuilding]: null };
    return { kind: "none", part: decisionPart({ effects: [annotationPatch("configs", { name }, cleared)] }) };
  }
  // Without a build in use there is nothing to build again: the first build is under way.
  if (asked === undefined || annotations[McoAnnotation.currentBuild] === undefined) {
    return { kind: "none", part: decisionPart() };
  }
  return noteRequest(asked, subject);
}

/** Write 1. A request that names no architecture of the pool is removed instead. */
function noteRequest(asked: string, subject: RebuildSubject): Rebuild {
  const { name } = subject.facts.config.meta;
  const { forced, unknown } = selection(asked, subject);
  const wrong = `Cannot rebuild "${unknown.join(", ").slice(0, 100)}": no architecture of the pool is called that.`;
  const warnings = unknown.length === 0 ? [] : [warning(["config", name], "RebuildRequested", wrong)];
  if (forced.length === 0 && unknown.length > 0) {
    const effects = [annotationPatch("configs", { name }, { [McoAnnotation.rebuild]: null })];
    return { kind: "none", part: decisionPart({ effects, events: warnings }) };
  }
  const note = `${subject.build?.meta.uid ?? ""}:${forced.join(",")}`;
  const what = forced.length === 0 ? "is published again" : `for ${forced.join(", ")} is built again`;
  const message = `The image ${what}, because a user asked for it.`;
  const effects = [annotationPatch("configs", { name }, { [ArchwayAnnotation.rebuilding]: note })];
  const events = [normal(["config", name], "RebuildRequested", message), ...warnings];
  return { kind: "replacing", part: decisionPart({ effects, events }) };
}

/** Replaces a build that failed only for lack of push rights, once the push secret has changed; images are reused. */
export function retryDenied({ facts, build }: BuildSubject, { archs, index }: BuildRecord): DecisionPart {
  const { config: { meta: { name }, pushSecret }, secretVersions, nowMs } = facts;
  const failed = archs.filter(({ state }) => state === "Failed" || state === "Interrupted");
  const denied = [...failed, ...(index.kind === "failed" ? [index] : [])].map(({ deniedVersion }) => deniedVersion);
  if (denied.length === 0 || denied.includes(undefined)) return decisionPart();
  // Users' secrets are not watched, so they are read again after a while.
  if (denied.every((version) => version === secretVersions.push)) {
    return decisionPart({ wakeAtMs: nowMs + ASK_AGAIN_MS });
  }
  const effects = [annotationPatch("configs", { name }, { [ArchwayAnnotation.rebuilding]: `${build.meta.uid}:` })];
  const message = `Secret "${pushSecret}" has changed since pushing with it was denied: build "${build.meta.name}" ` +
    "is tried again, without the images that are there.";
  return decisionPart({ effects, events: [normal(["config", name], "RebuildRequested", message)] });
}

function replace(facts: BuildFacts, build: MachineOSBuild): DecisionPart {
  if (build.meta.isDeleting) return decisionPart();
  return decisionPart({ effects: [...digestDeletions(facts, build), deletion("builds", build.meta, "Foreground")] });
}

/** Architectures to build anew: those that are named, or `all`. By default all after a success, else those not done. */
function selection(
  asked: string,
  { facts, plan, build }: RebuildSubject,
): { readonly forced: ArchitectureSet; readonly unknown: readonly string[] } {
  const words = asked.split(",").map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
  if (words.includes("all")) return { forced: plan.set, unknown: [] };
  if (words.length > 0) {
    const isOwn = (word: string): word is KnownArchitecture => plan.set.some((arch) => arch === word);
    return { forced: architectureSetOf(words.filter(isOwn)), unknown: words.filter((word) => !isOwn(word)) };
  }
  if (build === undefined || stateOfBuild(build) === "Succeeded") return { forced: plan.set, unknown: [] };
  const done = buildRecordOf(facts, build).archs.filter(isDone).map(({ arch }) => arch);
  return { forced: plan.set.filter((arch) => !done.includes(arch)), unknown: [] };
}

export function deleteSuperseded({ facts, plan, build }: BuildSubject): DecisionPart {
  const others = facts.builds.filter((other) =>
    other.meta.name !== plan.name && !other.meta.isDeleting && stateOfBuild(other) !== "Succeeded"
  );
  // An adopted Job, and one that has ended, stores its digest under the name that the plan gives it.
  const kept = plan.builds.map(({ digestConfigMapName }) => digestConfigMapName);
  return decisionPart({
    effects: others.flatMap((other) => [
      ...facts.jobs.filter((job) => job.buildUid === other.meta.uid && isAdoptable(job, plan, build))
        .map((job) => adoption(job, build)),
      ...digestDeletions(facts, other, kept),
      deletion("builds", other.meta, "Foreground"),
    ]),
    events: others.map(({ meta: { name } }) => {
      const message = `Build "${name}" is not wanted any more: "${plan.name}" is.`;
      return normal(["config", plan.configName], "BuildDeleted", message);
    }),
  });
}

function isAdoptable(job: JobObservation, plan: BuildPlan, build: MachineOSBuild): boolean {
  const forced = forcedOf(build);
  const wanted = plan.mode === "index" &&
    plan.builds.some(({ jobName: name, buildKey, arch }) =>
      name === job.meta.name && buildKey === job.buildKey && !forced.includes(arch)
    );
  const state = jobStateOf(job).kind;
  return wanted && !job.meta.isDeleting && state !== "Failed" && state !== "Interrupted";
}

function adoption({ meta }: JobObservation, build: MachineOSBuild): BuildEffect {
  const { name, uid, resourceVersion } = meta;
  return {
    kind: "patch",
    target: { resource: "jobs", name, uid, resourceVersion },
    patch: {
      metadata: {
        ownerReferences: [ownedBy(build)],
        labels: { [BuildLabel.build]: build.meta.name },
        annotations: { [ArchwayAnnotation.build]: build.meta.name },
      },
    },
  };
}

/** Deletes the ConfigMaps with a build's digests, which have no owner, except those of the names in `kept`. */
export function digestDeletions(
  facts: BuildFacts,
  { meta }: Pick<MachineOSBuild, "meta">,
  kept: readonly string[] = [],
): readonly BuildEffect[] {
  return facts.digests.filter((digest) =>
    digest.meta.labels[BuildLabel.build] === meta.name && !kept.includes(digest.meta.name)
  ).map((digest) => deletion("configMaps", digest.meta, "Background"));
}
