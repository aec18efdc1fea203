// An image that was built beforehand, named in an annotation: it replaces the first build of a pool, and no Job runs.
import { renderTime } from "../../../cluster/time.ts";
import type { Condition } from "../../../cluster/condition.ts";
import type { Effect } from "../effects.ts";
import type { MachineOSBuild, MachineOSConfig } from "../observed.ts";
import { digestOfReference } from "../plan/repository.ts";
import { stateOfBuild, STATES } from "../status/conditions.ts";
import { BuildLabel, McoAnnotation } from "../names.ts";
import { createBuild } from "./create_build.ts";
import { annotate, type Part, part, patchStatus, type Scope } from "./part.ts";

/** The reason of every condition of a build that records such an image. */
export const SEEDED_REASON = "PreBuiltImageSeeded";

/** How far the image is taken over; undefined: there is none, or the pool has a build already. */
export type PreBuiltStep =
  /** This pass ends here. */
  | { readonly kind: "taking over"; readonly part: Part }
  /** The annotation is removed. */
  | { readonly kind: "taken over"; readonly part: Part };

export function isPreBuilt({ meta }: Pick<MachineOSBuild, "meta">): boolean {
  return meta.labels[BuildLabel.preBuilt] === "true";
}

/** The image that a user names, by its digest; undefined where none is named so. */
export function preBuiltImage({ meta }: Pick<MachineOSConfig, "meta">): string | undefined {
  const reference = meta.annotations[McoAnnotation.preBuiltImage];
  return reference !== undefined && /^sha256:[a-f0-9]{64}$/.test(digestOfReference(reference)) ? reference : undefined;
}

export function decidePreBuilt({ facts, plan, build }: Scope<MachineOSBuild | undefined>): PreBuiltStep | undefined {
  const { config, nowMs } = facts;
  const reference = preBuiltImage(config);
  if (reference === undefined) return undefined;
  if (build !== undefined && isPreBuilt(build)) {
    if (stateOfBuild(build) !== "Succeeded") {
      return { kind: "taking over", part: part({ effects: [succeed(build, reference, nowMs)] }) };
    }
    const isTaken = config.status.pullSpec === reference && config.status.build === plan.name;
    const { name } = config.meta;
    return isTaken
      ? {
        kind: "taken over",
        part: part({ effects: [annotate("configs", { name }, { [McoAnnotation.preBuiltImage]: null })] }),
      }
      : undefined;
  }
  if (build !== undefined || config.meta.annotations[McoAnnotation.currentBuild] !== undefined) return undefined;
  return { kind: "taking over", part: createBuild({ facts, plan }, [], { [BuildLabel.preBuilt]: "true" }) };
}

function succeed({ meta }: MachineOSBuild, reference: string, nowMs: number): Effect {
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
  return patchStatus("builds", { name, uid }, { conditions, ...times, digestedImagePushSpec: reference });
}
