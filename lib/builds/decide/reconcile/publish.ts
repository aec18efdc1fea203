// Making what is published from the images of all architectures.
import type { AssembleChild, Effect } from "../effects.ts";
import type { BuildRecord } from "../types.ts";
import { ownTag } from "../publish/collect.ts";
import { type Part, part, type Scope } from "./part.ts";

/** The assembly that is due; none once it is published or has failed, and a time where it must wait. */
export function assembleEffect(scope: Scope, record: BuildRecord): Part {
  const { index } = record;
  if (index.kind === "published" || index.kind === "failed") return part();
  if (index.kind === "retry" && scope.facts.nowMs < index.retryAtMs) return part({ wakeAtMs: index.retryAtMs });
  const tag = index.kind === "retry" && index.tag !== undefined ? index.tag : scope.plan.name;
  return part({ effects: [assembly(scope, record, tag)] });
}

export function assembly({ plan, build }: Scope, { archs }: BuildRecord, tag: string): Effect {
  const { name, uid } = build.meta;
  // Where a tag of an index cannot be moved, those of its images may not be movable either.
  const suffix = tag.slice(plan.name.length);
  return {
    kind: "assemble",
    build: { resource: "builds", name, uid },
    mode: plan.mode,
    to: `${plan.repository}:${tag}`,
    children: archs.flatMap(({ isUnlabelled = false, ...one }): readonly AssembleChild[] => {
      const { arch, digest, from, buildKey, isStaged } = one;
      if (digest === undefined) return [];
      const reference = `${from ?? plan.repository}@${digest}`;
      const own = isStaged === true ? { tag: `${ownTag(plan.config, one)}${suffix}` } : {};
      return [{ arch, reference, digest, buildKey, isUnlabelled, ...own }];
    }),
  };
}
