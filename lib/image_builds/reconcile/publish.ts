// Making what is published from the images of all architectures.
import type { AssembleChild } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import type { BuildPlan, BuildRecord } from "../types.ts";
import type { BuildFacts } from "../facts.ts";
import { type Part, part } from "./part.ts";

/** The assembly that is due; none once it is published or has failed, and a time where it must wait. */
export function assembleEffect(
  { plan, build, record, facts }: {
    readonly plan: BuildPlan;
    readonly build: MachineOSBuild;
    readonly record: BuildRecord;
    readonly facts: Pick<BuildFacts, "nowMs">;
  },
): Part {
  const { index } = record;
  if (index.kind === "published" || index.kind === "failed") return part();
  if (index.kind === "retry" && facts.nowMs < index.retryAtMs) return part({ wakeAtMs: index.retryAtMs });
  const tag = index.kind === "retry" && index.tag !== undefined ? index.tag : plan.name;
  return part({ effects: [assembly({ plan, build, record, tag })] });
}

/** The effect that publishes what a record has under a tag. */
export function assembly(
  { plan, build, record, tag }: {
    readonly plan: BuildPlan;
    readonly build: MachineOSBuild;
    readonly record: BuildRecord;
    readonly tag: string;
  },
): Extract<Part["effects"][number], { kind: "assemble" }> {
  const children = record.archs.flatMap(({ arch, digest, from, buildKey, isUnlabelled }): readonly AssembleChild[] =>
    digest === undefined ? [] : [{
      arch,
      reference: `${from ?? plan.repository}@${digest}`,
      digest,
      buildKey: isUnlabelled === true ? undefined : buildKey,
    }]
  );
  const { name, uid } = build.meta;
  return {
    kind: "assemble",
    build: { resource: "builds", name, uid },
    mode: plan.mode,
    to: `${plan.repository}:${tag}`,
    children,
  };
}
