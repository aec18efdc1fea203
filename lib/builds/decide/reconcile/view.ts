// What a dashboard and metrics show of a pool.
import { renderTime } from "../../../cluster/time.ts";
import { membersOf } from "../detect/detect.ts";
import type { PoolBuildView } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import type { UncoveredNode } from "../publish/cover.ts";
import type { BuildPlan, BuildRecord, IndexState, MosbState } from "../types.ts";
import type { BuildFacts } from "../facts.ts";
import type { Problem } from "./report.ts";

export interface ViewInput {
  readonly plan: BuildPlan | undefined;
  readonly build: MachineOSBuild | undefined;
  readonly state: MosbState | "none";
  readonly record: BuildRecord | undefined;
  readonly uncovered: readonly UncoveredNode[];
  readonly set: readonly string[];
  readonly problem: Problem | undefined;
}

export function viewOf(
  facts: BuildFacts,
  { plan, build, state, record, uncovered, set, problem }: ViewInput,
): PoolBuildView {
  const { config, pool } = facts;
  return {
    pool: config.pool,
    config: config.meta.name,
    mode: plan?.mode ?? "none",
    architectures: set,
    build: build?.meta.name ?? plan?.name ?? "",
    state,
    rendered: pool?.rendered ?? "",
    times: {
      createdAt: build === undefined ? undefined : renderTime(build.meta.createdMs),
      startedAt: build?.status.buildStart,
      endedAt: build?.status.buildEnd,
    },
    push: pushOf(record?.index),
    archs: record?.archs ?? [],
    uncovered,
    nodes: countNodes(facts),
    published: config.status.pullSpec ?? "",
    problem,
  };
}

function pushOf(index: IndexState | undefined): PoolBuildView["push"] {
  if (index === undefined || index.kind === "absent") return "none";
  return index.kind === "published" ? "succeeded" : index.kind === "retry" ? "pushing" : "failed";
}

function countNodes({ config, nodes, pools }: BuildFacts): PoolBuildView["nodes"] {
  const members = membersOf(config.pool, { nodes, pools });
  const { pullSpec = "" } = config.status;
  return {
    total: members.length,
    layered: members.filter(({ currentImage }) => currentImage !== "").length,
    updated: members.filter(({ currentImage }) => pullSpec !== "" && currentImage === pullSpec).length,
  };
}
