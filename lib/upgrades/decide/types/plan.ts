// The UpgradeConfig as it is read: absent texts are empty. One schema is type, reader and writer of the status.
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { type Meta, parseMeta } from "../../../vocabulary/meta.ts";
import { parseTime, renderTime } from "../../../vocabulary/time.ts";
import { entryOf, isObject, type JsonObject } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { type Known, listOf, minutes, section, text, textMap, texts } from "../../../vocabulary/schema.ts";

/** What may be done to a pod that keeps a node from being drained in time. */
export const DRAIN_MODES = ["Observe", "Delete", "DeleteAndStripFinalizers"] as const;
export type DrainMode = typeof DRAIN_MODES[number];

const SMOKE_MINUTES = 15;

/** `spec`, which the CRD's schema has checked. A missing member has the MUO's default. */
const Spec = z.object({
  /** The wanted release. It is not identified by its version alone, which stays the same in a migration. */
  desired: section(z.object({
    version: text,
    channel: text,
    /** Pull specification with a digest; empty when the release is chosen by version. */
    image: text,
    architecture: z.enum(["", "Multi"]).catch(""),
  })),
  /** RFC 3339 as written: every decision parses it anew. */
  upgradeAt: text,
  PDBForceDrainTimeout: z.number().catch(0),
  type: z.enum(["OSD", "ARO"]).catch("OSD"),
  capacityReservation: z.boolean().catch(false),
  /** Undefined members have the values of the settings. */
  capacity: section(z.object({
    /** Undefined: `capacityReservation` of the MUO. */
    enabled: z.boolean().optional().catch(undefined),
    /** Patterns of further machine pools to clone. */
    pools: texts,
    timeoutMinutes: minutes,
    onTimeout: z.enum(["Continue", "Fail"]).catch("Continue"),
  })),
  /** Nothing begins while it is set; once the update was requested it has no effect. */
  suspend: z.boolean().catch(false),
  /** Undefined: the mode of the settings, else `Observe`. */
  drain: section(z.object({ mode: z.enum(DRAIN_MODES).optional().catch(undefined) })),
  smoke: section(z.object({
    /** Name of a MachineSet in `openshift-machine-api`, of the other architecture, that is cloned with one replica. */
    machineSetTemplate: text,
    timeoutMinutes: z.number().catch(SMOKE_MINUTES),
  })),
}).transform(({ PDBForceDrainTimeout, capacityReservation, capacity, drain, smoke, ...spec }) => ({
  ...spec,
  pdbForceDrainTimeoutMinutes: PDBForceDrainTimeout,
  capacity: { ...capacity, enabled: capacity.enabled ?? capacityReservation },
  drainMode: drain.mode,
  smoke: smoke.machineSetTemplate === "" ? undefined : smoke,
}));

export type UpgradeSpec = Readonly<z.output<typeof Spec>>;
export type UpgradeType = UpgradeSpec["type"];
export type DesiredRelease = Readonly<UpgradeSpec["desired"]>;

export function parseSpec(spec: unknown): UpgradeSpec {
  return Spec.parse(isObject(spec) ? spec : {});
}

const time = z.string().transform((written) => {
  const timeMs = parseTime(written);
  return timeMs === undefined ? undefined : renderTime(timeMs);
}).optional().catch(undefined);
const EPOCH = renderTime(0);
const certainTime = z.string().transform((written) => renderTime(parseTime(written) ?? 0)).catch(EPOCH);

const STEP_CONDITION = {
  type: text,
  status: z.enum(["True", "False", "Unknown"]).catch("Unknown"),
  reason: text,
  message: text,
  lastProbeTime: time,
  lastTransitionTime: time,
  startTime: time,
  completeTime: time,
};

type PlanConditionType = "ConfigValid" | "DrainMode" | "MultiArchCapable" | "PoolsPaused" | "Suspended" | "Valid";

const PLAN_CONDITION = {
  /** A {@link PlanConditionType}, or one of a later version. */
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]).catch("False"),
  reason: text,
  message: text,
  lastTransitionTime: certainTime,
  observedGeneration: z.number().catch(0),
};

const State = z.enum([
  "StateStarted",
  "StateCompleted",
  "StateDelayed",
  "StateFailed",
  "StateScaleSkipped",
  "StateSkipped",
  "StateHealthCheckSL",
  "StatePreHealthCheckSL",
  "StateControlPlaneStartedSL",
  "StateControlPlaneFinishedSL",
  "StateWorkerPlaneFinishedSL",
  /** Ours: the end of a migration, with what is possible from now on and cannot be taken back. */
  "StateMultiArchCapable",
  /** Ours: a migration that the cluster refuses, or that fails for longer than its time. */
  "StateMigrationStuck",
]);

const BASELINE = {
  image: text,
  /** `operator-image` by ClusterOperator, of those that publish it. */
  operatorImages: textMap,
  /** The rendered MachineConfig by MachineConfigPool, of those that have one. */
  renderedConfigs: textMap,
};

/** Defaults of an entry's members: a member that equals its default is not written. */
const IMPLIED = { architecture: "", precedingVersion: "", conditions: [], profile: "type", notifications: [] } as const;

const HISTORY_ENTRY = {
  version: text,
  /** Part of the key: a migration at the same version is an entry of its own. */
  architecture: z.enum(["", "Multi"]).catch(IMPLIED.architecture),
  precedingVersion: text,
  /** `Unknown` is only read, never written. */
  phase: z.enum(["New", "Pending", "Upgrading", "Upgraded", "Failed", "Unknown"]).catch("Unknown"),
  /** The step most recently started first. */
  conditions: listOf(STEP_CONDITION),
  startTime: time,
  completeTime: time,
  workerStartTime: time,
  workerCompleteTime: time,
  /** Which steps the upgrade takes, chosen once: those of `spec.type`, or those of a migration. */
  profile: z.enum(["type", "multiarch-migration"]).catch(IMPLIED.profile),
  /** Notifications that were sent, even by a later version: none is sent again for the same entry. */
  notifications: listOf({ state: z.string(), sentTime: certainTime }),
  baseline: z.looseObject(BASELINE).optional().catch(undefined),
};

const Status = z.object({
  history: listOf(HISTORY_ENTRY),
  conditions: listOf(PLAN_CONDITION),
});

const DELIVERY = {
  id: text,
  /** Names of the sinks that have the notification. */
  sinks: z.array(z.unknown()).catch([]).transform((names): readonly string[] =>
    names.filter((name) => typeof name === "string")
  ),
};
const Deliveries = z.object({ deliveries: listOf(DELIVERY) });

export type StepCondition = Known<typeof STEP_CONDITION>;
type PlanCondition = Known<typeof PLAN_CONDITION>;
export type NewStepCondition = Omit<StepCondition, "lastProbeTime" | "lastTransitionTime">;
export type NewPlanCondition = Pick<PlanCondition, "status" | "reason" | "message"> & {
  readonly type: PlanConditionType;
};
export type NotificationState = z.output<typeof State>;
export type Baseline = Known<typeof BASELINE>;
export type HistoryEntry = Known<typeof HISTORY_ENTRY>;
export type Phase = HistoryEntry["phase"];
export type UpgradeStatus = Readonly<z.output<typeof Status>>;
export type Delivery = Known<typeof DELIVERY>;

export function isNotificationState(state: string): state is NotificationState {
  return State.safeParse(state).success;
}

export function parseUpgradeStatus(status: unknown): UpgradeStatus {
  return Status.parse(isObject(status) ? status : {});
}

export function parseDeliveries(status: unknown): readonly Delivery[] {
  return Deliveries.parse(isObject(status) ? status : {}).deliveries;
}

/** The status as it is written, without members that equal their defaults. */
export function renderStatus({ history, conditions }: UpgradeStatus): JsonObject {
  const isWritten = ([name, value]: readonly [string, unknown]): boolean =>
    value !== undefined && !isDeepStrictEqual(value, entryOf<unknown>(IMPLIED, name));
  return {
    history: history.map((entry) => Object.fromEntries(Object.entries(entry).filter(isWritten))),
    ...conditions.length === 0 ? {} : { conditions },
  };
}

export interface UpgradeConfig extends Pick<Meta, "name" | "uid" | "resourceVersion" | "generation"> {
  readonly namespace: string;
  readonly spec: UpgradeSpec;
  readonly status: UpgradeStatus;
  /** `status.deliveries`, which is written while notifications are sent, apart from the rest. */
  readonly deliveries: readonly Delivery[];
}

export function parseUpgradeConfig(object: KubeObject): UpgradeConfig {
  const { metadata: { namespace = "" }, spec, status } = object;
  const { name, uid, resourceVersion, generation } = parseMeta(object);
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    spec: parseSpec(spec),
    status: parseUpgradeStatus(status),
    deliveries: parseDeliveries(status),
  };
}
