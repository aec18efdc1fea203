// The status that the node controller gives a pool, as we read it, and the nodes as upgrades see them.
import { parseMachineConfigPool } from "../../../lib/vocabulary/machines.ts";
import { parseNode } from "../../../lib/vocabulary/node.ts";
import { isObject, listAt, memberOf, objectAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { isPoolUpdating, isUnderConfiguration, summarizePools } from "../../../lib/upgrades/decide/pools.ts";
import type { Draw, Subject } from "../subject.ts";

interface Given {
  readonly pool: KubeObject;
  readonly nodes: readonly KubeObject[];
  readonly config?: KubeObject;
  readonly build?: KubeObject;
}

const MCO = "machineconfiguration.openshift.io";
const IMAGES = ["registry.test/os@sha256:1", "registry.test/os@sha256:2"] as const;
const BUILD_STATES = ["Prepared", "Building", "Succeeded", "Failed", "Interrupted"] as const;

function drawNode(draw: Draw, at: number, isLayered: boolean): KubeObject {
  const isDone = draw.chance(0.6);
  const config = (): string => isDone ? "rendered-2" : draw.pick(["rendered-1", "rendered-2", ""]);
  const image = (): string => isDone ? IMAGES[1] : draw.pick(["", ...IMAGES]);
  const condition = (type: string, usual: string, share: number): unknown => ({
    type,
    status: draw.chance(share) ? draw.pick(["True", "False", "Unknown"]) : usual,
  });
  return {
    metadata: {
      name: `node-${at}`,
      uid: `node-${at}`,
      annotations: {
        [`${MCO}/state`]: isDone
          ? "Done"
          : draw.pick(["Done", "Working", "Rebooting", "Degraded", "Unreconcilable", ""]),
        [`${MCO}/currentConfig`]: config(),
        [`${MCO}/desiredConfig`]: config(),
        ...isLayered || draw.chance(0.05) ? { [`${MCO}/currentImage`]: image(), [`${MCO}/desiredImage`]: image() } : {},
      },
    },
    spec: draw.chance(0.15) ? { unschedulable: true } : {},
    status: { conditions: [condition("Ready", "True", 0.1), condition("DiskPressure", "False", 0.05)] },
  };
}

function drawLayering(draw: Draw): Pick<Given, "config" | "build"> {
  const config = {
    metadata: { name: "layered", uid: "config" },
    spec: { machineConfigPool: { name: "worker" } },
    status: { currentImagePullSpec: IMAGES[1] },
  };
  if (draw.chance(0.2)) return { config };
  const state = draw.pick(BUILD_STATES);
  return {
    config,
    build: {
      metadata: { name: "build", uid: "build" },
      spec: { machineConfig: { name: "rendered-2" } },
      status: {
        conditions: BUILD_STATES.map((type) => ({ type, status: type === state ? "True" : "False" })),
        digestedImagePushSpec: draw.pick(IMAGES),
      },
    },
  };
}

function drawGiven(draw: Draw): Given {
  const layering = draw.chance(0.3) ? drawLayering(draw) : {};
  const condition = (type: string, share: number): unknown => ({ type, status: draw.chance(share) ? "True" : "False" });
  return {
    pool: {
      metadata: { name: "worker", uid: "pool", generation: 2 },
      spec: { paused: draw.chance(0.15), configuration: { name: "rendered-2" } },
      status: {
        configuration: { name: draw.pick(["rendered-1", "rendered-2"]) },
        conditions: [condition("Updated", 0.5), condition("RenderDegraded", 0.1), condition("ImageBuildDegraded", 0.1)],
      },
    },
    nodes: draw.many(draw.below(6), (at) => drawNode(draw, at, layering.build !== undefined)),
    ...layering,
  };
}

function poolWith({ pool }: Given, theirs: unknown): KubeObject {
  const { conditions, configuration, nodes: _, ...counts } = isObject(theirs) ? theirs : {};
  const types = Object.entries(isObject(conditions) ? conditions : {});
  return {
    ...pool,
    status: {
      ...counts,
      configuration: { name: configuration },
      conditions: types.map(([type, status]) => ({ type, status })),
    },
  };
}

function nodeAt(theirs: unknown, at: number, name: "done" | "degraded" | "failing"): boolean {
  return memberOf(listAt(theirs, "nodes")?.[at], name) === true;
}

/** Of the others the original does not say whether their daemons have begun. */
function isJudged(theirs: unknown, at: number): boolean {
  return nodeAt(theirs, at, "done") || nodeAt(theirs, at, "degraded");
}

export const POOLS: Subject<Given> = {
  name: "pools",
  original: "machine-config-operator",
  ask: "pool status",
  count: 400,
  kept: 400,
  draw: drawGiven,
  ours(given, theirs): unknown {
    const pool = parseMachineConfigPool(poolWith(given, theirs));
    return {
      isUpdating: isPoolUpdating(pool),
      isDegraded: pool.isDegraded,
      isWaitedFor: !summarizePools([pool]).isDone,
      currentRendered: pool.currentRendered,
      counts: [pool.machineCount, pool.updatedMachineCount],
      workedOn: given.nodes.map((node, at) => isJudged(theirs, at) ? isUnderConfiguration(parseNode(node)) : null),
    };
  },
  compared(theirs, { pool, nodes }): unknown {
    const conditions = objectAt(theirs, "conditions");
    // A pool without nodes is never waited for, even while an image for it is built: see README.md.
    const isUpdated = memberOf(conditions, "Updated") === "True" || nodes.length === 0;
    return {
      isUpdating: !isUpdated,
      isDegraded: memberOf(conditions, "Degraded") === "True",
      isWaitedFor: !isUpdated && memberOf(objectAt(pool, "spec"), "paused") !== true,
      currentRendered: memberOf(theirs, "configuration"),
      counts: [memberOf(theirs, "machineCount"), memberOf(theirs, "updatedMachineCount")],
      workedOn: nodes.map((_, at) => isJudged(theirs, at) ? nodeAt(theirs, at, "failing") : null),
    };
  },
};
