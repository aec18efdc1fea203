// A build that succeeded: its images are checked and published to the pool; Job objects and surplus builds are deleted.
import { annotationPatch, type BuildEffect, deletion, normal, statusPatch, warning } from "../effects.ts";
import { isTrue } from "../../../vocabulary/condition.ts";
import { BuildLabel, ConfigCondition, MCO_GROUP, McoAnnotation } from "../names.ts";
import { cutReference, digestOf } from "../../../oci/reference.ts";
import { decideDeletion, stagedDeletions } from "../publish/deletions.ts";
import { questionKey, type RegistryAnswer } from "../observed.ts";
import { isDone } from "../status/aggregate.ts";
import type { ArchitectureBuild, BuildRecord } from "../types.ts";
import { digestDeletions } from "./rebuild.ts";
import { ASK_AGAIN_MS, type BuildSubject, type DecisionPart, decisionPart, joinParts } from "./decision_part.ts";
import { isPreBuilt } from "./create_build.ts";
import { publishEffect, recordEffects, storedRecord } from "./running.ts";
import type { FoundImages } from "./report.ts";

export function finishBuild(
  subject: BuildSubject,
  record: BuildRecord,
  { part: checked }: CheckedImages,
): DecisionPart {
  if (checked.questions.length > 0 || checked.effects.length > 0) return checked;
  const effects = [...cleanUpEffects(subject, record), ...unstageEffects(subject, record), ...surplusEffects(subject)];
  return joinParts([checked, publishToPool(subject), decisionPart({ effects })]);
}

interface CheckedImages {
  readonly found: FoundImages;
  readonly part: DecisionPart;
}

/** Checks that published images still exist. A missing index or tag is published again, a missing image built again. */
export function checkImages(subject: BuildSubject, record: BuildRecord): CheckedImages {
  const { facts, build } = subject;
  // After a problem the images are checked at each reconcile, until it is solved.
  const isDue = facts.checksImages || isTrue(facts.config.status.conditions, ConfigCondition.imageChanged);
  if (!isDue) return { found: "not checked", part: decisionPart() };
  const reference = build.status.digestedPushSpec ?? "";
  const { name: repository } = cutReference(reference);
  const tag = record.index.kind === "published" ? record.index.tag : build.meta.name;
  const digests = subject.plan.mode === "single"
    ? []
    : record.archs.filter(isDone).flatMap(({ digest }) => digest ?? []);
  const children = digests.map((digest) => `${repository}@${digest}`);
  const asked = { reference, tag: `${repository}:${tag}`, children };
  const asking = answersAbout(asked, subject);
  if (asking.kind === "open") return { found: "not checked", part: asking.part };
  const { answers } = asking;
  return { found: foundOf(answers, asked), part: repairOf(answers, asked, { subject, record, tag }) };
}

interface PublishedReferences {
  readonly reference: string;
  readonly tag: string;
  readonly children: readonly string[];
}

type Answers = ReadonlyMap<string, RegistryAnswer>;

type Asking = { readonly kind: "answered"; readonly answers: Answers } | {
  readonly kind: "open";
  readonly part: DecisionPart;
};

/** The answers by reference, or a part that gets them. Asks for the digest only if the tag does not name it. */
function answersAbout(
  { reference, tag, children }: PublishedReferences,
  { facts, build }: BuildSubject,
): Asking {
  const answerTo = (image: string): RegistryAnswer | undefined =>
    facts.answers.get(questionKey({ kind: "tag", reference: image }));
  // The tag of a pre-built image is not known.
  const whole = isPreBuilt(build) ? [reference] : hasDigestOf(reference, answerTo(tag)) ? [tag] : [tag, reference];
  const asked = [...answerTo(tag) === undefined ? whole.slice(0, 1) : whole, ...children];
  const answers = new Map(asked.flatMap((image) => {
    const answer = answerTo(image);
    return answer === undefined ? [] : [[image, answer] as const];
  }));
  const open = asked.filter((image) => !answers.has(image));
  if (open.length > 0) {
    return {
      kind: "open",
      part: decisionPart({ questions: open.map((image) => ({ kind: "tag", reference: image })) }),
    };
  }
  const unknown = answers.values().find((answer) => answer.kind === "unknown");
  return unknown === undefined
    ? { kind: "answered", answers }
    : { kind: "open", part: decisionPart({ wakeAtMs: facts.nowMs + (unknown.retryAfterMs ?? ASK_AGAIN_MS) }) };
}

function hasDigestOf(reference: string, answer: RegistryAnswer | undefined): boolean {
  return answer?.kind === "exists" && answer.digest === digestOf(reference);
}

function foundOf(answers: Answers, { tag, reference }: PublishedReferences): FoundImages {
  const missing = answers.entries().filter(([, { kind }]) => kind === "absent")
    .map(([image]) => `"${image}" is no longer in the registry.`).toArray();
  const altered = answers.entries().toArray().flatMap(([image, answer]) => {
    if (answer.kind === "unusable") return [answer.message];
    const isMoved = image === tag && answer.kind === "exists" && !hasDigestOf(reference, answer);
    return isMoved ? [`"${tag}" names ${answer.digest} by now.`] : [];
  });
  if (missing.length + altered.length === 0) return "as published";
  return { reason: missing.length > 0 ? "Missing" : "Altered", message: [...missing, ...altered].join(" ") };
}

function repairOf(
  answers: Answers,
  { reference, tag: named, children }: PublishedReferences,
  { subject, record, tag }: { readonly subject: BuildSubject; readonly record: BuildRecord; readonly tag: string },
): DecisionPart {
  const isGone = (image: string): boolean => answers.get(image)?.kind === "absent";
  if (children.some(isGone) || children.length === 0 && isGone(reference)) {
    return buildAgain(subject, `An image of build "${subject.build.meta.name}" is no longer in the registry`);
  }
  return isGone(named) || isGone(reference)
    ? decisionPart({ effects: [publishEffect(subject, record, tag)] })
    : decisionPart();
}

/** Sets the image that nodes run, unless it is set already. The image covers every architecture of the plan. */
function publishToPool({ facts: { config: { meta, status } }, plan, build }: BuildSubject): DecisionPart {
  const reference = build.status.digestedPushSpec;
  if (reference === undefined) return decisionPart();
  const { name, uid, generation } = meta;
  const isSame = status.pullSpec === reference;
  const isCurrent = isSame && status.build === plan.name && status.observedGeneration >= generation;
  const patch = {
    ...(isSame ? {} : { currentImagePullSpec: reference }),
    machineOSBuild: { group: MCO_GROUP, resource: "machineosbuilds", name: plan.name },
    observedGeneration: Math.max(status.observedGeneration, generation),
  };
  const message = `Pool "${plan.pool}" gets ${reference} for ${plan.set.join(", ")}.`;
  const reconciled = `Generation ${generation} of "${name}" has build "${plan.name}".`;
  return decisionPart({
    effects: [
      ...(meta.annotations[McoAnnotation.currentBuild] === plan.name
        ? []
        : [annotationPatch("configs", { name, uid }, { [McoAnnotation.currentBuild]: plan.name })]),
      ...(isCurrent ? [] : [statusPatch("configs", { name, uid }, patch)]),
    ],
    events: [
      ...(isSame ? [] : [normal(["config", name], "IndexPublished", message)]),
      ...(isCurrent ? [] : [normal(["config", name], "ConfigReconciled", reconciled)]),
    ],
  });
}

/** Deletes Jobs and their objects, but neither the record nor the ConfigMaps with digests. */
function cleanUpEffects({ facts, build }: BuildSubject, record: BuildRecord): readonly BuildEffect[] {
  const jobs = facts.jobs.filter((job) => job.buildUid === build.meta.uid && !job.meta.isDeleting);
  const jobUids = record.archs.flatMap(({ job }) => job?.uid ?? []);
  const children = facts.children.filter(({ name, owners, labels }) =>
    !/^(?:digest|archs)-/.test(name) && (labels[BuildLabel.build] === build.meta.name ||
      owners.length > 0 && owners.every(({ uid }) => jobUids.includes(uid)))
  );
  return [
    ...jobs.map(({ meta }) => deletion("jobs", meta, "Background")),
    ...children.map((child) => deletion(child.resource, child, "Background")),
  ];
}

function unstageEffects({ facts, plan, build }: BuildSubject, record: BuildRecord): readonly BuildEffect[] {
  if (!record.archs.some(({ isStaged }) => isStaged)) return [];
  const archs = record.archs.map(({ from, isStaged, ...one }) =>
    isStaged === true || from === undefined ? one : { ...one, from }
  );
  const deletions = stagedDeletions(record, { config: plan.configName, digestsElsewhere: facts.digestsElsewhere });
  return [{ kind: "delete images", deletions }, ...recordEffects({ facts, build }, { ...record, archs })];
}

/** Deletes nothing before the build in use is published. The images of that build stay in any case. */
function surplusEffects({ facts, plan, build }: BuildSubject): readonly BuildEffect[] {
  const { config, builds, records, nodes, digestsElsewhere, settings } = facts;
  if (digestOf(config.status.pullSpec) !== digestOf(build.status.digestedPushSpec)) return [];
  const retain = settings.retainImages;
  return decideDeletion({ config, builds, records, nodes, digestsElsewhere, retain, current: plan.name });
}

/** The stored record, or one by the status alone. Undefined for an index that is not pre-built: it is built again. */
export function recordOfEnded({ facts, plan, build }: BuildSubject): BuildRecord | undefined {
  const stored = storedRecord(facts, build);
  if (stored !== undefined) return stored.record;
  const reference = build.status.digestedPushSpec ?? "";
  const index = { kind: "published", reference, tag: build.meta.name } as const;
  if (plan.mode === "index") return isPreBuilt(build) ? { archs: [], index: { ...index, children: [] } } : undefined;
  const digest = digestOf(reference);
  const archs = plan.builds.map(({ arch, buildKey }): ArchitectureBuild => ({
    arch,
    buildKey,
    state: "Succeeded",
    attempts: 0,
    digest,
    isUnlabelled: true,
  }));
  return { archs, index: { ...index, children: [digest] } };
}

/** Deletes a build that succeeded. The next build has the same name, and reuses the images that are still there. */
export function buildAgain({ facts, plan, build }: BuildSubject, why: string): DecisionPart {
  return decisionPart({
    effects: [...digestDeletions(facts, build), deletion("builds", build.meta, "Foreground")],
    events: [warning(["config", plan.configName], "BuildDeleted", `${why}: it is built again.`)],
  });
}
