// The MachineOSBuild of a plan, and that of an image that was built beforehand.
import { type Condition, isTrue } from "../../../vocabulary/condition.ts";
import { annotationPatch, type BuildEffect, type BuildEvent, normal, statusPatch } from "../effects.ts";
import { architectureSetOf } from "../detect/detect.ts";
import type { OwnerReference } from "../../../k8s/types.ts";
import { buildLabels } from "../job/pod.ts";
import type { MachineOSBuild, MachineOSConfig } from "../parse/machine_os_config.ts";
import type { ArchitectureSet, BuildPlan } from "../types.ts";
import {
  ArchwayAnnotation,
  BLOCKING_POOL_CONDITIONS,
  BuildLabel,
  FOREGROUND_DELETION,
  MCO_API_VERSION,
  McoAnnotation,
} from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { type BuildSubject, type DecisionPart, decisionPart } from "./decision_part.ts";
import { renderTime } from "../../../vocabulary/time.ts";
import { digestOf, SHA256_DIGEST } from "../../../oci/reference.ts";
import { stateOfBuild, STATES } from "../status/aggregate.ts";

export function blockingCondition({ pool }: Pick<BuildFacts, "pool">): string | undefined {
  return BLOCKING_POOL_CONDITIONS.find((type) => isTrue(pool?.conditions ?? [], type));
}

/** `forced`: architectures that are built anew. `labels`: added to those of every build. */
export function createBuild(
  { facts, plan }: Pick<BuildSubject, "facts" | "plan">,
  forced: ArchitectureSet,
  labels: Readonly<Record<string, string>> = {},
): DecisionPart {
  const { config } = facts;
  const effect: BuildEffect = {
    kind: "create build",
    build: {
      apiVersion: MCO_API_VERSION,
      kind: "MachineOSBuild",
      metadata: {
        name: plan.name,
        labels: { ...buildLabels(plan), ...labels },
        finalizers: [FOREGROUND_DELETION],
        annotations: {
          [McoAnnotation.pushSecret]: config.pushSecret,
          ...(plan.mode === "index" ? { [ArchwayAnnotation.indexOf]: plan.set.join(",") } : {}),
          ...(forced.length === 0 ? {} : { [ArchwayAnnotation.forced]: forced.join(",") }),
        },
        ownerReferences: [ownedByConfig(config)],
      },
      spec: {
        machineConfig: { name: plan.renderedConfigName },
        machineOSConfig: { name: plan.configName },
        renderedImagePushSpec: `${plan.repository}:${plan.name}`,
      },
    },
  };
  const message = `Build "${plan.name}" for ${plan.set.join(", ")} of pool "${plan.pool}".`;
  const event = normal(["config", plan.configName], "BuildStarted", [message, ...plan.infos].join(" "));
  return decisionPart({ effects: [effect], events: [...poolChange(facts, plan), event] });
}

export function forcedOf({ meta }: MachineOSBuild): ArchitectureSet {
  return architectureSetOf((meta.annotations[ArchwayAnnotation.forced] ?? "").split(","));
}

function poolChange(
  { config, builds }: BuildFacts,
  { pool, renderedConfigName }: BuildPlan,
): readonly BuildEvent[] {
  const current = builds.find(({ meta }) => meta.name === config.status.build);
  if (current === undefined || current.rendered === renderedConfigName) return [];
  const message = `Pool "${pool}" is to run "${renderedConfigName}", before "${current.rendered}".`;
  return [normal(["pool", pool], "PoolConfigChanged", message)];
}

function ownedByConfig({ meta: { name, uid } }: BuildFacts["config"]): OwnerReference {
  const owner = { apiVersion: MCO_API_VERSION, kind: "MachineOSConfig", name, uid };
  return { ...owner, controller: true, blockOwnerDeletion: true };
}

export const SEEDED_REASON = "PreBuiltImageSeeded";

export function isPreBuilt({ meta }: Pick<MachineOSBuild, "meta">): boolean {
  return meta.labels[BuildLabel.preBuilt] === "true";
}

export function preBuiltImage({ meta }: Pick<MachineOSConfig, "meta">): string | undefined {
  const reference = meta.annotations[McoAnnotation.preBuiltImage];
  return SHA256_DIGEST.test(digestOf(reference)) ? reference : undefined;
}

/** How far the pre-built image is taken over; undefined without one, and where the pool has a build already. */
export function decidePreBuilt(
  { facts, plan, build }: BuildSubject<MachineOSBuild | undefined>,
): { readonly kind: "taking over" | "taken over"; readonly part: DecisionPart } | undefined {
  const { config, nowMs } = facts;
  const reference = preBuiltImage(config);
  if (reference === undefined) return undefined;
  if (build !== undefined && isPreBuilt(build)) {
    if (stateOfBuild(build) !== "Succeeded") {
      return { kind: "taking over", part: decisionPart({ effects: [markSucceeded(build, reference, nowMs)] }) };
    }
    const isTaken = config.status.pullSpec === reference && config.status.build === plan.name;
    const { name } = config.meta;
    return isTaken
      ? {
        kind: "taken over",
        part: decisionPart({
          effects: [annotationPatch("configs", { name }, { [McoAnnotation.preBuiltImage]: null })],
        }),
      }
      : undefined;
  }
  if (build !== undefined || config.meta.annotations[McoAnnotation.currentBuild] !== undefined) return undefined;
  return { kind: "taking over", part: createBuild({ facts, plan }, [], { [BuildLabel.preBuilt]: "true" }) };
}

function markSucceeded({ meta }: MachineOSBuild, reference: string, nowMs: number): BuildEffect {
  const message = "The image was built beforehand.";
  const conditions = STATES.map((type): Condition => ({
    type,
    status: type === "Succeeded" ? "True" : "False",
    reason: SEEDED_REASON,
    message,
    lastTransitionTime: renderTime(nowMs),
  }));
  const times = { buildStart: renderTime(nowMs), buildEnd: renderTime(nowMs + 1_000) };
  const { name, uid } = meta;
  return statusPatch("builds", { name, uid }, { conditions, ...times, digestedImagePushSpec: reference });
}
