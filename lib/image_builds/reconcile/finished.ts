// A build that succeeded: its images are checked again at intervals, it is published to the pool, what its Jobs needed is
// deleted, and builds that are older than those kept for going back go.
import type { BuildEvent, Effect } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import { digestOfReference } from "../plan/repository.ts";
import { collectEffects } from "../publish/collect.ts";
import { questionKey, type RegistryQuestion } from "../registry.ts";
import { isDone } from "../status/aggregate.ts";
import type { BuildPlan, BuildRecord } from "../types.ts";
import { BuildLabel, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { digestDeletions } from "./other_builds.ts";
import { ASK_AGAIN_MS, joinParts, type Part, part } from "./part.ts";
import { assembly } from "./publish.ts";

/** A build that succeeded. */
export interface FinishedInput {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: MachineOSBuild;
  readonly record: BuildRecord;
}

/** Decides what is left to do. */
export function finishBuild(input: FinishedInput): Part {
  const { facts } = input;
  const checked = facts.checksImages ? checkImages(input) : part();
  if (checked.questions.length > 0 || checked.effects.length > 0) return checked;
  const published = publishToPool(input);
  return joinParts([checked, published, part({ effects: [...tidyEffects(input), ...collected(input)] })]);
}

/** Whether what was published is still there: an index that is gone is made again, a lost image is built again. */
function checkImages({ facts, plan, build, record }: FinishedInput): Part {
  const reference = build.status.digestedPushSpec ?? "";
  const repository = reference.slice(0, Math.max(0, reference.indexOf("@")));
  const children = plan.mode === "single" ? [] : record.archs.filter(isDone).flatMap(({ digest }) => digest ?? []);
  const questions: readonly RegistryQuestion[] = [reference, ...children.map((digest) => `${repository}@${digest}`)]
    .map((one) => ({ kind: "tag", reference: one }));
  const open = questions.filter((question) => !facts.answers.has(questionKey(question)));
  if (open.length > 0) return part({ questions: open });
  const answers = questions.map((question) => facts.answers.get(questionKey(question)));
  const unknown = answers.find((answer) => answer?.kind === "unknown");
  if (unknown?.kind === "unknown") return part({ wakeAtMs: unknown.retryAtMs ?? facts.nowMs + ASK_AGAIN_MS });
  const [whole, ...parts] = answers;
  const { name, uid } = build.meta;
  if (parts.some((answer) => answer?.kind === "absent") || whole?.kind === "absent" && children.length === 0) {
    const message = `An image of build "${name}" is no longer in the registry: it is built again.`;
    return part({
      effects: [...digestDeletions(facts, build), {
        kind: "delete",
        target: { resource: "builds", name, uid },
        propagation: "Foreground",
      }],
      events: [{ on: "config", name: plan.config, type: "Warning", reason: "BuildDeleted", message }],
    });
  }
  if (whole?.kind !== "absent") return part();
  const tag = record.index.kind === "published" ? record.index.tag : plan.name;
  return part({ effects: [assembly({ plan, build, record, tag })] });
}

/** Sets what nodes run: it covers every architecture of the plan. A digest that is set already is not set again. */
function publishToPool({ facts, plan, build }: FinishedInput): Part {
  const { config } = facts;
  const reference = build.status.digestedPushSpec;
  if (reference === undefined) return part();
  const { meta, status } = config;
  const target = { resource: "configs", name: meta.name, uid: meta.uid } as const;
  const annotation: readonly Effect[] = meta.annotations[McoAnnotation.currentBuild] === plan.name
    ? []
    : [{ kind: "patch annotations", target, annotations: { [McoAnnotation.currentBuild]: plan.name } }];
  const isSame = status.pullSpec === reference;
  const isSaid = isSame && status.build === plan.name && status.observedGeneration >= meta.generation;
  const machineOSBuild = { group: "machineconfiguration.openshift.io", resource: "machineosbuilds", name: plan.name };
  const patch = {
    ...(isSame ? {} : { currentImagePullSpec: reference }),
    machineOSBuild,
    observedGeneration: Math.max(status.observedGeneration, meta.generation),
  };
  const message = `Pool "${plan.pool}" gets ${reference} for ${plan.set.join(", ")}.`;
  const event = { on: "config", name: meta.name, type: "Normal" } as const;
  const reconciled = `Generation ${meta.generation} of "${meta.name}" has build "${plan.name}".`;
  const events: readonly BuildEvent[] = [
    ...(isSame ? [] : [{ ...event, reason: "IndexPublished", message }]),
    ...(isSaid ? [] : [{ ...event, reason: "ConfigReconciled", message: reconciled }]),
  ];
  return part({
    effects: [...annotation, ...(isSaid ? [] : [{ kind: "patch status", target, patch } as const])],
    events,
  });
}

/** Jobs and what belongs to them; the record and the digests stay. */
function tidyEffects({ facts, build, record }: FinishedInput): readonly Effect[] {
  const jobs = facts.jobs.filter((job) => job.build === build.meta.uid && !job.meta.isDeleting).map(
    ({ meta: { name, uid } }): Effect => ({
      kind: "delete",
      target: { resource: "jobs", name, uid },
      propagation: "Background",
    }),
  );
  const jobUids = record.archs.flatMap(({ job }) => job?.uid ?? []);
  const children = facts.children.filter(({ name, owners, labels }) =>
    !/^(?:digest|archs)-/.test(name) && (labels[BuildLabel.build] === build.meta.name ||
      owners.length > 0 && owners.every(({ uid }) => jobUids.includes(uid)))
  ).map(({ resource, name, uid }): Effect => ({
    kind: "delete",
    target: { resource, name, uid },
    propagation: "Background",
  }));
  return [...jobs, ...children];
}

/** Nothing goes before the build in use is published, and its own images are kept in any case. */
function collected({ facts, plan, build }: FinishedInput): readonly Effect[] {
  const { config, builds, records, nodes, elsewhere, settings } = facts;
  if (digestOfReference(config.status.pullSpec ?? "") !== digestOfReference(build.status.digestedPushSpec ?? "")) {
    return [];
  }
  const retain = settings.retainImages;
  return collectEffects({ config, builds, records, nodes, elsewhere, retain, current: plan.name });
}
