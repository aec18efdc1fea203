// Decides which architectures a pool has and plans what is to be built for them.
import {
  detectArchitectures,
  effectiveSet,
  type GoneSince,
  isSameStoredSet,
  parseGoneSince,
  renderStoredSet,
} from "../detect/detect.ts";
import { annotationPatch, type BuildEffect } from "../effects.ts";
import { planBuild } from "../plan/plan.ts";
import { isDone, stateOfBuild } from "../status/aggregate.ts";
import type { ArchitectureSet, BuildPlan, DetectedSet, PlanError } from "../types.ts";
import { ArchwayAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";

interface ResolvedPlan {
  readonly detected: DetectedSet;
  readonly set: ArchitectureSet;
  readonly plan: BuildPlan | PlanError;
  readonly effects: readonly BuildEffect[];
}

export function resolvePlan(facts: BuildFacts): ResolvedPlan {
  const { config, pools, nodes, machineSets, cluster, settings, nowMs } = facts;
  const detected = detectArchitectures({
    pool: config.pool,
    pools,
    nodes,
    machineSets,
    isMultiPayload: cluster.payloadArchitecture === "Multi",
    override: config.meta.annotations[ArchwayAnnotation.architectures],
  });
  const text = facts.architecturesMap[config.pool];
  const goneSince = parseGoneSince(text);
  const planFor = (set: ArchitectureSet): BuildPlan | PlanError => {
    const { pool, rendered, builds } = facts;
    const { alwaysIndex, stagingRepository: staging } = settings;
    return planBuild({ config, pool, rendered, builds, set, alwaysIndex, staging });
  };
  const built = builtSet(facts);
  const set = detected.source === "override" ? detected.set : effectiveSet({
    detected: detected.set,
    built: built.set,
    goneSince,
    nowMs,
    retainMs: settings.retainArchitectures,
    isPublished: (all) => {
      const plan = planFor(all);
      return plan.kind === "plan" && plan.name === built.name;
    },
  });
  return { detected, set, plan: planFor(set), effects: storeEffects(facts, { detected, set, goneSince, text }) };
}

/** The published build and its architectures; none where no record names them. */
function builtSet({ config, builds, records }: BuildFacts): { readonly name: string; readonly set: ArchitectureSet } {
  const name = config.status.build ?? "";
  const build = builds.find(({ meta }) => meta.name === name);
  if (build === undefined || stateOfBuild(build) !== "Succeeded") return { name, set: [] };
  const record = records.find(({ buildUid }) => buildUid === build.meta.uid)?.record;
  return { name, set: (record?.archs ?? []).filter(isDone).map(({ arch }) => arch) };
}

function storeEffects(
  { pool, nowMs, config }: BuildFacts,
  { detected, set, goneSince, text }: {
    readonly detected: DetectedSet;
    readonly set: ArchitectureSet;
    readonly goneSince: GoneSince;
    readonly text: string | undefined;
  },
): readonly BuildEffect[] {
  if (pool === undefined || set.length === 0) return [];
  const annotations = { [ArchwayAnnotation.architectures]: set.join(",") };
  const rendered = renderStoredSet({ set, detected, goneSince, nowMs });
  const isCurrent = pool.annotations[ArchwayAnnotation.architectures] === set.join(",");
  return [
    ...(isCurrent ? [] : [annotationPatch("pools", { name: config.pool }, annotations)]),
    ...(isSameStoredSet(text, rendered)
      ? []
      : [{ kind: "write architectures", data: { [config.pool]: rendered } } as const]),
  ];
}
