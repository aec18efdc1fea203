// What people and other controllers read: conditions of the MachineOSConfig and of the pool, and the view of a
// dashboard.
import { type Condition, isTrue, setCondition } from "../../../vocabulary/condition.ts";
import { type BuildEvent, normal, type PoolBuildView, statusPatch, warning } from "../effects.ts";
import { entryOf } from "../../../json.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import { membersOf, uncoveredMessage, type UncoveredNode } from "../detect/detect.ts";
import type { BuildPlan, BuildRecord, DetectedSet, IndexState, MachineOSBuildState } from "../types.ts";
import { ArchwayAnnotation, ConfigCondition, IMAGE_BUILD_DEGRADED } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { messageOf } from "./build_status.ts";
import { type DecisionPart, decisionPart } from "./decision_part.ts";
import { SEEDED_REASON } from "./create_build.ts";
import { renderTime } from "../../../vocabulary/time.ts";

export interface ConfigProblem {
  readonly reason: string;
  readonly message: string;
}

interface ConfigFacts {
  readonly problem: ConfigProblem | undefined;
  readonly detected: DetectedSet;
  readonly uncovered: readonly UncoveredNode[];
  readonly isSeeded: boolean;
  readonly images: FoundImages;
}

export type FoundImages = "not checked" | "as published" | ConfigProblem;

type ConditionRow = readonly [type: string, holds: boolean, reason: string, message: string];

const ANOTHER = "The machine config operator's own builder is running: its builds are watched, and none is started. " +
  "Stop that one first, as docs/image-builds.md says.";

/** `facts`: undefined while another builder runs, since nothing else was checked. */
export function configConditions({ config, nowMs }: BuildFacts, facts: ConfigFacts | undefined): DecisionPart {
  const rows: readonly ConditionRow[] = [
    [ConfigCondition.anotherBuilder, facts === undefined, "MachineOSBuilderRunning", ANOTHER],
    ...facts === undefined ? [] : rowsOf(facts),
  ];
  const before = config.status.conditions;
  const after = rows.reduce((conditions, row) => withRow(conditions, row, nowMs), before);
  if (after === before) return decisionPart();
  const { name, uid, resourceVersion } = config.meta;
  const events = rows.filter(([type, holds]) => holds && !isTrue(before, type)).map(([type, , , message]) => {
    const reason = type === ConfigCondition.cannotPlan ? "ConfigReconcileFailed" : type;
    return (type === ConfigCondition.seeded ? normal : warning)(["config", name], reason, message);
  });
  return decisionPart({
    effects: [statusPatch("configs", { name, uid, resourceVersion }, { conditions: after })],
    events,
  });
}

function rowsOf({ problem, detected, uncovered, isSeeded, images }: ConfigFacts): readonly ConditionRow[] {
  const override = detected.findings.find(({ kind }) => kind === "InvalidOverride");
  const changed = typeof images === "string" ? { reason: "", message: "" } : images;
  return [
    [ConfigCondition.cannotPlan, problem !== undefined, problem?.reason ?? "", problem?.message ?? ""],
    [ConfigCondition.override, override !== undefined, "InvalidAnnotation", override?.message ?? ""],
    [ConfigCondition.seeded, isSeeded, SEEDED_REASON, "What is published was built beforehand."],
    [ConfigCondition.notCovered, uncovered.length > 0, "NodesNotCovered", uncoveredMessage(uncovered)],
    ...images === "not checked"
      ? []
      : [[ConfigCondition.imageChanged, images !== "as published", changed.reason, changed.message] as const],
  ];
}

function withRow(
  conditions: readonly Condition[],
  [type, holds, reason, message]: ConditionRow,
  nowMs: number,
): readonly Condition[] {
  if (holds) return setCondition(conditions, { type, status: "True", reason, message }, nowMs);
  if (!conditions.some((one) => one.type === type)) return conditions;
  return setCondition(conditions, { type, status: "False", reason: "AsExpected", message: "" }, nowMs);
}

export function poolCondition(
  { pool, nowMs }: BuildFacts,
  { state, build, record }: {
    readonly state: MachineOSBuildState;
    readonly build: MachineOSBuild;
    readonly record: BuildRecord;
  },
): DecisionPart {
  // A failure without a record is another builder's, whose reason is not known here.
  const isOthers = state === "Failed" && record.archs.length === 0;
  if (pool === undefined || state === "Interrupted" || isOthers) return decisionPart();
  const { name, resourceVersion } = pool;
  const mosb = build.meta.name;
  const failed = `Failed to build OS image for pool ${name} (MachineOSBuild: ${mosb}): ${messageOf(state, record)}`;
  const condition = state === "Failed"
    ? { status: "True", reason: "BuildFailed", message: failed } as const
    : state === "Succeeded"
    ? { status: "False", reason: "BuildSuccess", message: `MachineOSBuild ${mosb} succeeded` } as const
    : { status: "False", reason: "Building", message: `MachineOSBuild ${mosb} is in progress` } as const;
  const before = pool.conditions.find(({ type }) => type === IMAGE_BUILD_DEGRADED);
  // Another client's message about the same success stays.
  if (state === "Succeeded" && before?.status === condition.status && before.reason === condition.reason) {
    return decisionPart();
  }
  const after = setCondition(pool.conditions, { type: IMAGE_BUILD_DEGRADED, ...condition }, nowMs);
  if (after === pool.conditions) return decisionPart();
  const wasDegraded = before?.status === "True";
  const event = wasDegraded
    ? normal(["pool", name], "BuildRecovered", `The image of pool "${name}" is built again.`)
    : warning(["pool", name], "BuildDegraded", `The image of pool "${name}" cannot be built: its nodes keep theirs.`);
  return decisionPart({
    effects: [statusPatch("pools", { name, resourceVersion }, { conditions: after })],
    events: wasDegraded === (state === "Failed") ? [] : [event],
  });
}

export function detectionEvents(
  { pool, config }: BuildFacts,
  { detected, set }: { readonly detected: DetectedSet; readonly set: readonly string[] },
  isStored: boolean,
): readonly BuildEvent[] {
  if (pool === undefined || isStored) return [];
  const name = config.pool;
  const before = entryOf(pool.annotations, ArchwayAnnotation.architectures);
  const message = `Images of pool "${name}" are built for ${set.join(", ")}${
    before === undefined ? "" : `, before for ${before}`
  }.`;
  return [
    ...(before === set.join(",") ? [] : [normal(["pool", name], "ArchitecturesChanged", message)]),
    ...detected.findings.filter(({ kind }) => kind !== "InvalidOverride")
      .map(({ kind, message }) => warning(["pool", name], kind, message)),
  ];
}

interface ViewInput {
  readonly plan?: BuildPlan | undefined;
  readonly build?: MachineOSBuild;
  readonly state?: PoolBuildView["state"];
  readonly record?: BuildRecord;
  readonly uncovered?: readonly UncoveredNode[];
  readonly set?: readonly string[];
  readonly problem?: ConfigProblem | undefined;
}

export function viewOf(
  facts: BuildFacts,
  { plan, build, state = "none", record, uncovered = [], set = [], problem }: ViewInput,
): PoolBuildView {
  const { config, pool } = facts;
  return {
    pool: config.pool,
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
