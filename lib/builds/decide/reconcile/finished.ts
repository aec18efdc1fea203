// A build that succeeded: its images are checked again at intervals, it is published to the pool, what its Jobs needed is
// deleted, and builds that are older than those kept for going back go.
import type { Effect } from "../effects.ts";
import { BuildLabel, MCO_GROUP, McoAnnotation } from "../names.ts";
import { digestOfReference } from "../plan/repository.ts";
import { collectEffects, stagedDeletions } from "../publish/collect.ts";
import { questionKey, type RegistryQuestion } from "../registry.ts";
import { isDone } from "../status/aggregate.ts";
import type { BuildRecord } from "../types.ts";
import { digestDeletions } from "./other_builds.ts";
import {
  annotate,
  ASK_AGAIN_MS,
  deletion,
  joinParts,
  normal,
  type Part,
  part,
  patchStatus,
  type Scope,
  warning,
} from "./part.ts";
import { assembly } from "./publish.ts";
import { recordEffects } from "./running.ts";

/** Decides what is left to do. */
export function finishBuild(scope: Scope, record: BuildRecord): Part {
  const checked = scope.facts.checksImages ? checkImages(scope, record) : part();
  if (checked.questions.length > 0 || checked.effects.length > 0) return checked;
  const effects = [...tidyEffects(scope, record), ...unstage(scope, record), ...collected(scope)];
  return joinParts([checked, publishToPool(scope), part({ effects })]);
}

/** Whether what was published is still there: an index that is gone is made again, a lost image is built again. */
function checkImages({ facts, plan, build }: Scope, record: BuildRecord): Part {
  const reference = build.status.digestedPushSpec ?? "";
  const repository = reference.slice(0, Math.max(0, reference.indexOf("@")));
  const children = plan.mode === "single" ? [] : record.archs.filter(isDone).flatMap(({ digest }) => digest ?? []);
  const questions: readonly RegistryQuestion[] = [reference, ...children.map((digest) => `${repository}@${digest}`)]
    .map((one) => ({ kind: "tag", reference: one }));
  const open = questions.filter((question) => !facts.answers.has(questionKey(question)));
  if (open.length > 0) return part({ questions: open });
  const answers = questions.map((question) => facts.answers.get(questionKey(question)));
  const unknown = answers.find((answer) => answer?.kind === "unknown");
  if (unknown?.kind === "unknown") return part({ wakeAtMs: facts.nowMs + (unknown.retryAfterMs ?? ASK_AGAIN_MS) });
  const [whole, ...parts] = answers;
  if (parts.some((answer) => answer?.kind === "absent") || whole?.kind === "absent" && children.length === 0) {
    const message = `An image of build "${build.meta.name}" is no longer in the registry: it is built again.`;
    return part({
      effects: [...digestDeletions(facts, build), deletion("builds", build.meta, "Foreground")],
      events: [warning(["config", plan.config], "BuildDeleted", message)],
    });
  }
  if (whole?.kind !== "absent") return part();
  const tag = record.index.kind === "published" ? record.index.tag : plan.name;
  return part({ effects: [assembly({ facts, plan, build }, record, tag)] });
}

/** Sets what nodes run: it covers every architecture of the plan. A digest that is set already is not set again. */
function publishToPool({ facts: { config: { meta, status } }, plan, build }: Scope): Part {
  const reference = build.status.digestedPushSpec;
  if (reference === undefined) return part();
  const { name, uid, generation } = meta;
  const isSame = status.pullSpec === reference;
  const isSaid = isSame && status.build === plan.name && status.observedGeneration >= generation;
  const patch = {
    ...(isSame ? {} : { currentImagePullSpec: reference }),
    machineOSBuild: { group: MCO_GROUP, resource: "machineosbuilds", name: plan.name },
    observedGeneration: Math.max(status.observedGeneration, generation),
  };
  const message = `Pool "${plan.pool}" gets ${reference} for ${plan.set.join(", ")}.`;
  const reconciled = `Generation ${generation} of "${name}" has build "${plan.name}".`;
  return part({
    effects: [
      ...(meta.annotations[McoAnnotation.currentBuild] === plan.name
        ? []
        : [annotate("configs", { name, uid }, { [McoAnnotation.currentBuild]: plan.name })]),
      ...(isSaid ? [] : [patchStatus("configs", { name, uid }, patch)]),
    ],
    events: [
      ...(isSame ? [] : [normal(["config", name], "IndexPublished", message)]),
      ...(isSaid ? [] : [normal(["config", name], "ConfigReconciled", reconciled)]),
    ],
  });
}

/** Jobs and what belongs to them; the record and the digests stay. */
function tidyEffects({ facts, build }: Scope, record: BuildRecord): readonly Effect[] {
  const jobs = facts.jobs.filter((job) => job.build === build.meta.uid && !job.meta.isDeleting);
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

/** Images that are published are needed no more where they were staged. */
function unstage({ facts, plan, build }: Scope, record: BuildRecord): readonly Effect[] {
  if (!record.archs.some(({ isStaged }) => isStaged)) return [];
  const archs = record.archs.map(({ from, isStaged, ...one }) =>
    isStaged === true || from === undefined ? one : { ...one, from }
  );
  const deletions = stagedDeletions(record, { config: plan.config, elsewhere: facts.elsewhere });
  return [{ kind: "collect", deletions }, ...recordEffects({ facts, build }, { ...record, archs })];
}

/** Nothing goes before the build in use is published, and its own images are kept in any case. */
function collected({ facts, plan, build }: Scope): readonly Effect[] {
  const { config, builds, records, nodes, elsewhere, settings } = facts;
  if (digestOfReference(config.status.pullSpec ?? "") !== digestOfReference(build.status.digestedPushSpec ?? "")) {
    return [];
  }
  const retain = settings.retainImages;
  return collectEffects({ config, builds, records, nodes, elsewhere, retain, current: plan.name });
}
