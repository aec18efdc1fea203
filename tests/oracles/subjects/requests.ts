// How the ClusterVersion is asked for a target, and what it says of it; and when a plan may begin.
import { isObject, type JsonObject, listAt, memberOf, objectAt } from "../../../lib/json.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import {
  currentVersionOf,
  decideRequest,
  isCommenced,
  isCompleted,
  precedingVersionOf,
} from "../../../lib/upgrades/decide/release/target.ts";
import { decideSchedule } from "../../../lib/upgrades/decide/phases/plan_state.ts";
import { parseClusterOperator, parseClusterVersion } from "../../../lib/upgrades/decide/types/cluster.ts";
import { parseUpgradeConfig } from "../../../lib/upgrades/decide/types/plan.ts";
import { MINUTE_MS, renderTime } from "../../../lib/vocabulary/time.ts";
import type { Draw, Subject } from "../subject.ts";

interface Given {
  readonly plan: KubeObject;
  readonly clusterVersion: KubeObject;
  readonly operators: { readonly items: readonly KubeObject[] };
}

const VERSIONS = ["4.17.1", "4.17.2", "4.18.0"] as const;
const CHANNELS = ["stable-4.17", "stable-4.18"] as const;

function imageOf(version: string): string {
  return `quay.io/openshift/release@sha256:${version}`;
}

/** Each version in one of the lists at most, as the operator that writes them does. */
function drawOffers(draw: Draw): JsonObject {
  const kinds = VERSIONS.map((version) => [{ version, image: imageOf(version) }, draw.below(3)] as const);
  return {
    availableUpdates: kinds.filter(([, kind]) => kind === 1).map(([release]) => release),
    conditionalUpdates: kinds.filter(([, kind]) => kind === 2).map(([release]) => ({ release, risks: [] })),
  };
}

function drawHistory(draw: Draw): readonly unknown[] {
  return draw.many(draw.below(4), (at) => {
    const [version, isCompleted] = [draw.pick(VERSIONS), draw.chance(0.7)];
    return {
      version,
      image: imageOf(version),
      state: isCompleted ? "Completed" : "Partial",
      startedTime: `2026-01-0${4 - at}T10:00:00Z`,
      completionTime: isCompleted ? `2026-01-0${4 - at}T1${draw.below(3)}:00:00Z` : null,
      verified: true,
    };
  });
}

function drawAsked(draw: Draw): JsonObject | undefined {
  const version = draw.pick(VERSIONS);
  if (draw.chance(0.6)) return undefined;
  return { ...draw.chance(0.5) ? { version } : {}, ...draw.chance(0.5) ? { image: imageOf(version) } : {} };
}

function drawOperator(draw: Draw, at: number): KubeObject {
  const status = (): string => draw.pick(["True", "False", "Unknown"]);
  const conditions = ["Degraded", "Available", "Progressing"].filter(() => draw.chance(0.8));
  return {
    metadata: { name: `operator-${at}` },
    status: { conditions: conditions.map((type) => ({ type, status: status() })) },
  };
}

function drawGiven(draw: Draw): Given {
  const [version, now, asked] = [draw.pick(VERSIONS), draw.pick(VERSIONS), drawAsked(draw)];
  return {
    plan: {
      metadata: { name: "managed-upgrade-config" },
      spec: {
        desired: { version, channel: draw.pick(CHANNELS), ...draw.chance(0.3) ? { image: imageOf(version) } : {} },
      },
    },
    clusterVersion: {
      metadata: { name: "version" },
      spec: { clusterID: "cluster", channel: CHANNELS[0], ...asked === undefined ? {} : { desiredUpdate: asked } },
      status: {
        desired: { version: now, image: imageOf(now) },
        history: drawHistory(draw),
        ...drawOffers(draw),
        observedGeneration: 1,
        versionHash: "",
      },
    },
    operators: { items: draw.many(draw.below(3), (at) => drawOperator(draw, at)) },
  };
}

/** What is written of the request; an architecture is none of the original's. */
function patchOf(patch: unknown): unknown {
  const spec = objectAt(patch, "spec");
  const desired = objectAt(spec, "desiredUpdate");
  if (desired === undefined) return { channel: memberOf(spec, "channel") };
  return { version: desired.version ?? null, image: desired.image ?? null };
}

/** The channel first, where it is another; then the release, read again. */
function patchesFor(
  { plan, clusterVersion }: Given,
): { readonly isAsked: boolean; readonly patches: readonly unknown[] } {
  const { spec: { desired } } = parseUpgradeConfig(plan);
  const cluster = parseClusterVersion(clusterVersion);
  const first = decideRequest(desired, cluster);
  const next = first.kind === "channel" ? decideRequest(desired, { ...cluster, channel: desired.channel }) : first;
  const all = first.kind === "channel" ? [first, next] : [next];
  const patches = all.flatMap((one) => "patch" in one ? [patchOf(one.patch)] : []);
  return { isAsked: next.kind === "release", patches };
}

export const REQUESTS: Subject<Given> = {
  name: "requests",
  original: "managed-upgrade-operator",
  ask: "request",
  count: 1000,
  kept: 100,
  draw: drawGiven,
  ours(given): unknown {
    const { spec: { desired } } = parseUpgradeConfig(given.plan);
    const cluster = parseClusterVersion(given.clusterVersion);
    const commenced = isCommenced(desired, cluster);
    const operators = given.operators.items.map(parseClusterOperator);
    return {
      isCommenced: commenced,
      isCompleted: isCompleted(desired, cluster),
      preceding: precedingVersionOf(desired, cluster),
      current: currentVersionOf(cluster) ?? "",
      degraded: operators.filter((one) => one.isDegraded || !one.isAvailable).map(({ name }) => name),
      ...commenced ? { patches: [] } : patchesFor(given),
    };
  },
  compared(theirs): unknown {
    return { ...isObject(theirs) ? theirs : {}, patches: (listAt(theirs, "patches") ?? []).map(patchOf) };
  },
};

interface Time {
  /** From now, less half a minute. */
  readonly minutes: number;
  readonly timeOut: number;
}

export const SCHEDULES: Subject<Time> = {
  name: "schedules",
  original: "managed-upgrade-operator",
  ask: "schedule",
  count: 200,
  kept: 50,
  // A window of 0 minutes is none here: see README.md.
  draw: (draw) => ({ minutes: draw.below(400) - 250, timeOut: 1 + draw.below(240) }),
  ours({ minutes, timeOut }): unknown {
    const nowMs = 0;
    const upgradeAt = renderTime(minutes * MINUTE_MS + MINUTE_MS / 2);
    const { isReady, isBreached, untilMs } = decideSchedule(upgradeAt, { nowMs, windowMs: timeOut * MINUTE_MS });
    return { isReady, isBreached, minutes: Math.floor(untilMs / MINUTE_MS) };
  },
};
