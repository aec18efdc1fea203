// An image that was built beforehand, named in an annotation: it replaces the first build of a pool, and no Job runs.
import type { Effect } from "../effects.ts";
import type { Condition, MachineOSBuild, MachineOSConfig } from "../observed.ts";
import { digestOfReference } from "../plan/repository.ts";
import { stateOfBuild, timeText } from "../status/conditions.ts";
import type { BuildPlan } from "../types.ts";
import { BuildLabel, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { createBuild } from "./create_build.ts";
import { type Part, part } from "./part.ts";

/** The reason of every condition of a build that records such an image. */
export const SEEDED_REASON = "PreBuiltImageSeeded";

/** How far the image is taken over; undefined: there is none, or the pool has a build already. */
export type PreBuiltStep =
  /** This pass ends here. */
  | { readonly kind: "taking over"; readonly part: Part }
  /** The annotation is removed. */
  | { readonly kind: "taken over"; readonly part: Part };

/** Whether a build records an image that was built beforehand. */
export function isPreBuilt({ meta }: Pick<MachineOSBuild, "meta">): boolean {
  return meta.labels[BuildLabel.preBuilt] === "true";
}

/** The image that a user names, by its digest; undefined where none is named so. */
export function preBuiltImage({ meta }: Pick<MachineOSConfig, "meta">): string | undefined {
  const reference = meta.annotations[McoAnnotation.preBuiltImage];
  return reference !== undefined && /^sha256:[a-f0-9]{64}$/.test(digestOfReference(reference)) ? reference : undefined;
}

/** Decides it. `build`: the plan's, if there is one. */
export function decidePreBuilt(
  { facts, plan, build }: {
    readonly facts: BuildFacts;
    readonly plan: BuildPlan;
    readonly build: MachineOSBuild | undefined;
  },
): PreBuiltStep | undefined {
  const { config, nowMs } = facts;
  const reference = preBuiltImage(config);
  if (reference === undefined) return undefined;
  if (build !== undefined && isPreBuilt(build)) {
    if (stateOfBuild(build) !== "Succeeded") {
      return { kind: "taking over", part: part({ effects: [succeed(build, reference, nowMs)] }) };
    }
    const isTaken = config.status.pullSpec === reference && config.status.build === plan.name;
    const target = { resource: "configs", name: config.meta.name } as const;
    const annotations = { [McoAnnotation.preBuiltImage]: null };
    return isTaken
      ? { kind: "taken over", part: part({ effects: [{ kind: "patch annotations", target, annotations }] }) }
      : undefined;
  }
  if (build !== undefined || config.meta.annotations[McoAnnotation.currentBuild] !== undefined) return undefined;
  return {
    kind: "taking over",
    part: createBuild({ facts, plan, forced: [], labels: { [BuildLabel.preBuilt]: "true" } }),
  };
}

const TYPES = ["Prepared", "Building", "Failed", "Interrupted", "Succeeded"];

function succeed({ meta }: MachineOSBuild, reference: string, nowMs: number): Effect {
  const message = "The image was built beforehand.";
  const conditions = TYPES.map((type): Condition => ({
    type,
    status: type === "Succeeded" ? "True" : "False",
    reason: SEEDED_REASON,
    message,
    lastTransitionTime: timeText(nowMs),
  }));
  const times = { buildStart: timeText(nowMs), buildEnd: timeText(nowMs + 1_000) };
  return {
    kind: "patch status",
    target: { resource: "builds", name: meta.name, uid: meta.uid },
    patch: { conditions, ...times, digestedImagePushSpec: reference },
  };
}
