// Advances a build that has not ended: every architecture by a step, Jobs for some, and publishes when all are done.
import { type BuildEffect, deletion, type ImageToPublish } from "../effects.ts";
import type { BuildFacts, StoredRecord } from "../facts.ts";
import { renderJob, renderSecrets } from "../job/job_object.ts";
import { BuildLabel, McoAnnotation, recordName } from "../names.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { startJobs, withBase } from "./start_jobs.ts";
import { canonical } from "../plan/build_keys.ts";
import { isDone, isRunning } from "../status/aggregate.ts";
import { EMPTY_INDEX, renderRecord } from "../status/record.ts";
import type { ArchitectureBuild, BuildRecord } from "../types.ts";
import { buildEvents, buildStatusEffects } from "./build_status.ts";
import { forcedOf } from "./create_build.ts";
import { type BuildSubject, type DecisionPart, decisionPart, joinParts } from "./decision_part.ts";
import { stepArchitecture } from "./step_architecture.ts";
import { architectureTag } from "../publish/deletions.ts";

export function storedRecord({ records }: BuildFacts, { meta }: MachineOSBuild): StoredRecord | undefined {
  return records.find(({ name, buildUid }) => name === recordName(meta.name) && buildUid === meta.uid);
}

export function buildRecordOf(facts: BuildFacts, build: MachineOSBuild): BuildRecord {
  return storedRecord(facts, build)?.record ?? { archs: [], index: EMPTY_INDEX };
}

export function advanceBuild(
  subject: BuildSubject,
  rendered: RenderedConfig,
): { readonly record: BuildRecord; readonly part: DecisionPart } {
  const { facts, plan, build } = subject;
  const before = buildRecordOf(facts, build);
  const forced = forcedOf(build);
  const steps = plan.builds.map((arch) => {
    const isForced = forced.includes(arch.arch);
    return stepArchitecture(arch, before.archs.find((one) => one.arch === arch.arch), { ...subject, isForced });
  });
  const stepped = joinParts(steps.map((step) => step.part));
  if (stepped.questions.length > 0) return { record: before, part: stepped };
  const started = startJobs(subject, rendered, steps);
  if (started.part.questions.length > 0) return { record: before, part: started.part };
  const record: BuildRecord = { archs: started.archs, index: before.index };
  const publishing = record.archs.every(isDone) ? publishWhenDue(subject, record) : decisionPart();
  const effects = [
    ...cancelEffects(started.archs, facts),
    ...ownerEffects(subject, rendered, record),
    ...recordEffects(subject, record),
    ...buildStatusEffects(subject, record),
    ...staleSecrets(subject, record),
  ];
  const own = decisionPart({ effects, events: buildEvents(build, record, before) });
  return { record, part: joinParts([stepped, started.part, own, publishing]) };
}

export function recordEffects(
  { facts, build }: Pick<BuildSubject, "facts" | "build">,
  record: BuildRecord,
): readonly BuildEffect[] {
  const name = recordName(build.meta.name);
  const stored = facts.records.find((one) => one.name === name);
  const isSame = stored?.buildUid === build.meta.uid && canonical(stored.record) === canonical(record);
  if (isSame) return [];
  const object = renderRecord(record, { build, namespace: facts.settings.namespace });
  return [{ kind: "write record", object, previousVersion: stored?.resourceVersion }];
}

function cancelEffects(archs: readonly ArchitectureBuild[], { settings, jobs }: BuildFacts): readonly BuildEffect[] {
  if (!settings.cancelSiblings || !archs.some(({ state }) => state === "Failed")) return [];
  return archs.filter(isRunning).flatMap(({ job }): readonly BuildEffect[] => {
    const existing = jobs.find(({ meta }) => meta.uid === job?.uid && !meta.isDeleting);
    return existing === undefined ? [] : [deletion("jobs", existing.meta, "Foreground")];
  });
}

/** Refreshes copies of secrets that have changed while Jobs run, since a Job's next pod mounts them. */
function staleSecrets({ facts, plan }: BuildSubject, { archs }: BuildRecord): readonly BuildEffect[] {
  if (!archs.some(isRunning)) return [];
  return renderSecrets({ plan, facts }).flatMap((copy): readonly BuildEffect[] => {
    const { name, labels = {} } = copy.object.metadata;
    const existing = facts.children.find((one) => one.resource === "secrets" && one.name === name);
    const key = BuildLabel.secretVersion;
    if (existing === undefined || existing.labels[key] === labels[key]) return [];
    const { uid, resourceVersion } = existing;
    return [{ kind: "refresh secret", target: { resource: "secrets", name, uid, resourceVersion }, copy }];
  });
}

/** Completes the creation of Jobs that do not own all their objects yet, because the controller ended in between. */
function ownerEffects(
  { facts, plan, build }: BuildSubject,
  rendered: RenderedConfig,
  { archs }: BuildRecord,
): readonly BuildEffect[] {
  return archs.filter(isRunning).flatMap(({ job, arch: name, tag }): readonly BuildEffect[] => {
    const arch = plan.builds.find((one) => one.arch === name);
    const existing = facts.jobs.find(({ meta, buildUid }) => meta.uid === job?.uid && buildUid === build.meta.uid);
    if (arch === undefined || existing === undefined || existing.meta.isDeleting) return [];
    // An adopted Job has its objects under the names of the build that made it.
    if (existing.meta.annotations[McoAnnotation.build] !== plan.name) return [];
    const effect = renderJob({
      plan,
      arch,
      build,
      rendered: withBase(rendered, archs),
      facts,
      tolerations: [],
      tag: tag ?? arch.tag,
    });
    const own = [...effect.configMaps, ...effect.secrets.map(({ object }) => object)].map(({ metadata }) =>
      metadata.name
    );
    const isOwned = own.every((child) =>
      facts.children.some((one) => one.name === child && one.owners.some(({ uid }) => uid === job?.uid))
    );
    return isOwned ? [] : [effect];
  });
}

/** Publishes the whole, now or at the time of the next attempt; nothing after a success or a permanent failure. */
function publishWhenDue(subject: BuildSubject, record: BuildRecord): DecisionPart {
  const { index } = record;
  if (index.kind === "published" || index.kind === "failed") return decisionPart();
  if (index.kind === "retry" && subject.facts.nowMs < index.retryAtMs) {
    return decisionPart({ wakeAtMs: index.retryAtMs });
  }
  const tag = index.kind === "retry" && index.tag !== undefined ? index.tag : subject.plan.name;
  return decisionPart({ effects: [publishEffect(subject, record, tag)] });
}

export function publishEffect({ plan, build }: BuildSubject, { archs }: BuildRecord, tag: string): BuildEffect {
  // Where the index gets another tag because its own is immutable, its images get other tags as well.
  const suffix = tag.slice(plan.name.length);
  return {
    kind: "publish",
    build: build.meta.name,
    mode: plan.mode,
    to: `${plan.repository}:${tag}`,
    tag,
    children: archs.flatMap(({ isUnlabelled = false, ...one }): readonly ImageToPublish[] => {
      const { arch, digest, from, buildKey, isStaged } = one;
      if (digest === undefined) return [];
      const reference = `${from ?? plan.repository}@${digest}`;
      const own = isStaged === true ? { tag: `${architectureTag(plan.configName, one)}${suffix}` } : {};
      return [{ arch, reference, buildKey, isUnlabelled, ...own }];
    }),
  };
}
