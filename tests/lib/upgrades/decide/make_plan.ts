// Plans, clusters and the answers to the requests of a reconcile, for the tests of upgrades.
import { type MachineConfigPool, parseMachineConfigPool } from "../../../../lib/vocabulary/machines.ts";
import { decodeOperatorConfig, type OperatorConfig } from "../../../../lib/upgrades/decide/types/operator_config.ts";
import { reconcile, type ReconcileInput } from "../../../../lib/upgrades/decide/reconcile.ts";
import type { Condition } from "../../../../lib/vocabulary/condition.ts";
import { parseTime, renderTime } from "../../../../lib/vocabulary/time.ts";
import type { ClusterOperator, ClusterVersion, Silence } from "../../../../lib/upgrades/decide/types/cluster.ts";
import type { Effect } from "../../../../lib/upgrades/decide/types/effects.ts";
import type {
  HealthCheckId,
  HealthReason,
  HealthResult,
  Observation,
  Observed,
  ReadingName,
  Readings,
  UpgradeFacts,
} from "../../../../lib/upgrades/decide/types/observed.ts";
import type {
  HistoryEntry,
  NotificationState,
  StepCondition,
  UpgradeConfig,
  UpgradeSpec,
  UpgradeStatus,
} from "../../../../lib/upgrades/decide/types/plan.ts";
import {
  NO_ANSWER,
  type ReconcileAnswer,
  type ReconcileEnd,
  type ReconcileRequest,
  type Step,
  type StepResult,
} from "../../../../lib/upgrades/decide/types/steps.ts";

export const START = "2026-03-01T20:00:00Z";
export const START_MS = parseTime(START) ?? NaN;
export const NOW_MS = START_MS + 300_000;
export const NOW = renderTime(NOW_MS);
export const MINUTE = 60_000;

export const FROM = "4.17.1";
export const TO = "4.17.2";
export const IMAGE_FROM = `quay.io/openshift-release-dev/ocp-release@sha256:${"1".repeat(64)}`;
export const IMAGE_TO = `quay.io/openshift-release-dev/ocp-release@sha256:${"2".repeat(64)}`;
export const IMAGE_MULTI = `quay.io/openshift-release-dev/ocp-release@sha256:${"3".repeat(64)}`;

/** Of an upgrade that nothing delays, in their order. */
export const NOTIFICATIONS: readonly NotificationState[] = [
  "StateStarted",
  "StateControlPlaneStartedSL",
  "StateControlPlaneFinishedSL",
  "StateWorkerPlaneFinishedSL",
  "StateCompleted",
];

export function makeConfig(tree: unknown = {}): OperatorConfig {
  const reading = decodeOperatorConfig(tree);
  if (reading.kind !== "parsed") throw new Error(`Cannot decode the test's configuration: ${JSON.stringify(reading)}`);
  return reading.config;
}

export type SpecOverrides = Partial<Omit<UpgradeSpec, "desired">> & {
  readonly desired?: Partial<UpgradeSpec["desired"]>;
};

export function makeSpec({ desired, ...overrides }: SpecOverrides = {}): UpgradeSpec {
  return {
    desired: { version: TO, channel: "stable-4.17", image: "", architecture: "", ...desired },
    upgradeAt: START,
    pdbForceDrainTimeoutMinutes: 60,
    type: "OSD",
    capacity: { enabled: false, pools: undefined, timeoutMinutes: undefined, onTimeout: "Continue" },
    suspend: false,
    drainMode: "Observe",
    smoke: undefined,
    ...overrides,
  };
}

export const CAPACITY = { enabled: true, pools: undefined, timeoutMinutes: undefined, onTimeout: "Continue" } as const;

export function makePlan(spec: SpecOverrides = {}, status: Partial<UpgradeStatus> = {}): UpgradeConfig {
  return {
    namespace: "openshift-managed-upgrade-operator",
    name: "managed-upgrade-config",
    uid: "uid-1",
    resourceVersion: "7",
    generation: 3,
    spec: makeSpec(spec),
    status: { history: [], conditions: [], ...status },
    deliveries: [],
  };
}

export function makeHistory(overrides: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    version: TO,
    architecture: "",
    precedingVersion: FROM,
    phase: "Upgrading",
    conditions: [],
    startTime: renderTime(NOW_MS),
    profile: "type",
    notifications: [],
    ...overrides,
  };
}

export function makeCluster(overrides: Partial<ClusterVersion> = {}): ClusterVersion {
  return {
    resourceVersion: "100",
    clusterId: "c-1",
    channel: "stable-4.17",
    upstream: "",
    desiredUpdate: undefined,
    desired: { version: FROM, image: IMAGE_FROM, architecture: "" },
    availableUpdates: [{ version: TO, image: IMAGE_TO }],
    conditionalUpdates: [],
    history: [{ version: FROM, image: IMAGE_FROM, state: "Completed", startedMs: 1, completedMs: 2 }],
    conditions: [condition("Progressing", "False")],
    ...overrides,
  };
}

export function commencedCluster(overrides: Partial<ClusterVersion> = {}): ClusterVersion {
  return makeCluster({ desiredUpdate: { version: TO, image: "", architecture: "" }, ...overrides });
}

export function upgradedCluster(overrides: Partial<ClusterVersion> = {}): ClusterVersion {
  return commencedCluster({
    desired: { version: TO, image: IMAGE_TO, architecture: "" },
    history: [
      { version: TO, image: IMAGE_TO, state: "Completed", startedMs: NOW_MS, completedMs: NOW_MS + 1 },
      ...makeCluster().history,
    ],
    ...overrides,
  });
}

/** Asked to become one of several architectures, and so far with it. */
export function migratingCluster(
  state: "Partial" | "Completed",
  overrides: Partial<ClusterVersion> = {},
): ClusterVersion {
  const completedMs = state === "Completed" ? NOW_MS : undefined;
  const desired = { version: FROM, image: IMAGE_MULTI, architecture: "Multi" };
  return makeCluster({
    desiredUpdate: { ...desired, image: "" },
    desired,
    history: [{ version: FROM, image: IMAGE_MULTI, state, startedMs: NOW_MS, completedMs }, ...makeCluster().history],
    conditions: [condition("Progressing", state === "Completed" ? "False" : "True", "Working towards 4.17.1")],
    ...overrides,
  });
}

/** An upgrade that has begun. */
export const UNDER_WAY = makePlan({}, { history: [makeHistory()] });

export function makeStep(type: string, overrides: Partial<StepCondition> = {}): StepCondition {
  return { type, status: "True", reason: "", message: "", ...overrides };
}

/** One of an upgrade's own. */
export function makeSilence(comment: string, state: Silence["state"] = "active"): Silence {
  return { id: comment.slice(0, 24), createdBy: "managed-upgrade-operator", comment, state, endsAtMs: 0 };
}

export const CONTROL_PLANE_SILENCE = "Silence for OSD control plane upgrade to version ";

export function condition(type: string, status: Condition["status"], message = ""): Condition {
  return { type, status, reason: "Because", message, lastTransitionTime: renderTime(START_MS) };
}

export function makePool(name: string, overrides: Partial<MachineConfigPool> = {}): MachineConfigPool {
  const parsed = parseMachineConfigPool({
    metadata: { name },
    status: { machineCount: 3, updatedMachineCount: 3, configuration: { name: `rendered-${name}-1` } },
  });
  return { ...parsed, isUpdated: true, ...overrides };
}

export function makeOperator(name: string, operatorImage = ""): ClusterOperator {
  return { name, isDegraded: false, isAvailable: true, operatorImage };
}

/** A health check that has failed for that reason. */
export function failedCheck(
  check: HealthCheckId,
  reason: HealthReason,
  token = `${check}HealthcheckFailed`,
): HealthResult {
  return { check, kind: "failed", token, message: `${check} failed`, reasons: { [reason]: 1 } };
}

export function seen<T>(value: T): Observation<T> {
  return { kind: "observed", value };
}

export function unseen(why = "it is away"): { readonly kind: "unknown"; readonly why: string } {
  return { kind: "unknown", why };
}

export type Observations = { readonly [Name in ReadingName]: Observation<Readings[Name]> };

export function makeObservations(overrides: Partial<Observations> = {}): Observations {
  const pools = [makePool("master"), makePool("worker")];
  return {
    clusterOperators: seen([makeOperator("etcd")]),
    pools: seen(pools),
    buildingPools: seen(new Set()),
    notReadyNodes: seen([]),
    osImages: seen(new Map()),
    controlPlaneArchitectures: seen(["amd64"]),
    silences: seen([]),
    capacity: seen({ kind: "ready" }),
    capacityLeft: seen({ kind: "none" }),
    health: seen([]),
    healthAfter: seen([]),
    dependencies: seen([]),
    payload: seen({ image: IMAGE_MULTI, version: FROM, isIndex: true, architectures: ["amd64", "arm64"] }),
    graph: seen([]),
    policy: seen({ kind: "unchanged" }),
    smoke: seen({ kind: "absent" }),
    advisories: seen({ kind: "found", sentences: [] }),
    alertsDuring: seen([]),
    ...overrides,
  };
}

export interface Driven<End> {
  readonly end: End;
  readonly effects: readonly Effect[];
  readonly saved: readonly UpgradeStatus[];
  readonly reads: readonly ReadingName[];
  readonly requests: readonly ReconcileRequest[];
}

export interface Driver {
  readonly observed?: Partial<Observations> | undefined;
  readonly failing?: ((effect: Effect) => string | undefined) | undefined;
}

/** Answers all requests: an effect that fails stops those behind it, unless it says that its failure is only logged. */
export function drive<End>(
  run: Generator<ReconcileRequest, End, ReconcileAnswer>,
  { observed, failing = () => undefined }: Driver = {},
): Driven<End> {
  const requests: ReconcileRequest[] = [];
  const effects: Effect[] = [];
  const answers = { observed: makeObservations(observed), failing };
  let next = run.next();
  while (!next.done) {
    requests.push(next.value);
    const answer = answerTo(next.value, answers);
    effects.push(...answer.done);
    next = run.next(answer);
  }
  const saved = requests.flatMap((request) => request.kind === "save" ? [request.status] : []);
  const reads = requests.flatMap((request) => request.kind === "read" ? request.readings : []);
  return { end: next.value, effects, saved, reads, requests };
}

export function answerTo(
  request: ReconcileRequest,
  { observed, failing }: { readonly observed: Observations; readonly failing: NonNullable<Driver["failing"]> },
): ReconcileAnswer {
  switch (request.kind) {
    case "read":
      return { ...NO_ANSWER, read: Object.fromEntries(request.readings.map((name) => [name, observed[name]])) };
    case "save":
      return NO_ANSWER;
    case "apply": {
      const done: Effect[] = [];
      for (const effect of request.effects) {
        const failure = failing(effect);
        const isLogged = effect.kind === "notify" && effect.onFailure === "log";
        if (failure !== undefined && !isLogged) return { ...NO_ANSWER, done, failure };
        if (failure === undefined) done.push(effect);
      }
      return { ...NO_ANSWER, done };
    }
  }
}

export function makeInput(overrides: Partial<ReconcileInput> = {}): ReconcileInput {
  return {
    plan: seen(makePlan()),
    clusterVersion: seen(makeCluster()),
    config: { kind: "parsed", config: makeConfig(), warnings: [] },
    isDrainForbidden: false,
    nowMs: NOW_MS,
    ...overrides,
  };
}

/** A reconcile of a cluster without a plan. */
export function reconcileAbsent(
  observed: Partial<Observations> = {},
  clusterVersion: ClusterVersion = makeCluster(),
): Driven<ReconcileEnd> {
  const input = makeInput({ plan: { kind: "absent" }, clusterVersion: seen(clusterVersion) });
  return drive(reconcile(input), { observed });
}

export function reconcileOnce(
  { plan = makePlan(), clusterVersion = makeCluster(), config = makeConfig(), nowMs = NOW_MS } = {},
  driver: Driver = {},
): Driven<ReconcileEnd> {
  const known = { plan: seen(plan), clusterVersion: seen(clusterVersion), nowMs } as const;
  return drive(reconcile(makeInput({ ...known, config: { kind: "parsed", config, warnings: [] } })), driver);
}

export interface Seen {
  readonly spec?: SpecOverrides;
  readonly config?: OperatorConfig;
  readonly clusterVersion?: ClusterVersion;
  readonly history?: Partial<HistoryEntry>;
  readonly observed?: Partial<Observations>;
  readonly nowMs?: number;
}

/** What a single step decides. It sees only what it asks for. */
export function decideStep(step: Step, overrides: Seen = {}): StepResult {
  const entry = makeHistory(overrides.history);
  const facts: UpgradeFacts = {
    plan: makePlan(overrides.spec, { history: [entry] }),
    config: overrides.config ?? makeConfig(),
    clusterVersion: overrides.clusterVersion ?? makeCluster(),
  };
  const blind: Observed = { ...facts, entry, read: {} };
  const observed = makeObservations(overrides.observed);
  const read = Object.fromEntries(step.reads(blind).map((name) => [name, observed[name]]));
  return step.decide({ ...blind, read }, overrides.nowMs ?? NOW_MS);
}

/** `StateStarted`, `scaling_failed=1`, `patchClusterVersion`: effects in a word each. */
export function wordsOf(effects: readonly Effect[]): readonly string[] {
  return effects.map((effect) => {
    switch (effect.kind) {
      case "notify":
        return effect.notification.state;
      case "setMetric":
        return `${effect.metric.replace("upgradeoperator_", "")}=${effect.value}`;
      case "clearMetric":
        return `clear ${effect.metric.replace("upgradeoperator_", "")}`;
      case "clearMetrics":
        return `clear ${effect.group}`;
      default:
        return effect.kind;
    }
  });
}
