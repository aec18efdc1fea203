// The steps before the update is requested. Each is decided anew in every run until then, since its answer may change.
import { decideHealthBefore } from "../health_decision.ts";
import { notificationEffects } from "../notifications/notify.ts";
import { parseVersion } from "../release/version.ts";
import { currentVersionOf } from "../release/target.ts";
import { elapsedMs, MINUTE_MS, parseTime } from "../../../vocabulary/time.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { CapacityState } from "../types/cluster.ts";
import type { Step, StepResult, StepWords } from "../types/steps.ts";
import { assertNever } from "../../../parsed.ts";
import { done, fail, untilCommenced, wait, withReading } from "./results.ts";

const STARTED: StepWords = {
  id: "StartedNotificationSent",
  stage: "Before",
  title: "Tell that it starts",
  waitsFor: "the notification",
  remedy: "ArchwayUpgradeNotificationsFail",
};

export const HEALTHY_BEFORE: StepWords = {
  id: "ClusterHealthyBeforeUpgrade",
  stage: "Before",
  title: "Check the cluster's health",
  waitsFor:
    "no critical alert, no ClusterOperator degraded or not available. Migration: the ClusterVersion at rest, no pool paused, degraded, updating, building an image",
  remedy: "mend what is named, or `healthCheck.ignoredCriticals`; ArchwayUpgradeHealthChecksFail",
};

export const SEND_STARTED: Step = untilCommenced({
  ...STARTED,
  reads: () => [],
  decide: (observed) => done(notificationEffects("StateStarted", observed)),
});

/** Notifies once that the upgrade is delayed. The step shares its condition with the step before. */
export const CHECK_DELAY: Step = untilCommenced({
  ...STARTED,
  reads: () => [],
  decide: (observed, nowMs) => {
    const startMs = parseTime(observed.entry.startTime);
    const delayMs = observed.config.upgradeWindow.delayTriggerMinutes * MINUTE_MS;
    if (startMs === undefined) return wait("the upgrade has no start time");
    const isDelayed = delayMs > 0 && elapsedMs(startMs, nowMs) > delayMs;
    return done(isDelayed ? notificationEffects("StateDelayed", observed) : []);
  },
});

export const CHECK_UPGRADEABLE: Step = untilCommenced({
  id: "IsClusterUpgradable",
  stage: "Before",
  title: "Ask whether the cluster can be upgraded",
  waitsFor: "to a newer minor or major version: the ClusterVersion is not `Upgradeable: False`",
  remedy: "do what the condition says: acknowledge removed APIs, take `overrides` away",
  reads: () => [],
  decide: ({ plan, clusterVersion }) => {
    const obstacle = clusterVersion.conditions.find(({ type, status }) => type === "Upgradeable" && status === "False");
    if (obstacle === undefined) return done();
    const { version } = plan.spec.desired;
    const currentText = currentVersionOf(clusterVersion) ?? "";
    const [wanted, current] = [parseVersion(version), parseVersion(currentText)];
    if (wanted === undefined || current === undefined) {
      return fail(`Cannot compare version "${version}" with "${currentText}": one is not a semantic version`);
    }
    // This condition does not keep the cluster version operator from newer patches of the same minor version.
    if ((wanted.major - current.major || wanted.minor - current.minor) <= 0) return done();
    const { reason, message } = obstacle;
    return fail(
      `The cluster cannot be upgraded to ${version} as planned for ${plan.spec.upgradeAt}: Upgradeable is False, ${reason}: ${message}`,
    );
  },
});

export const CHECK_HEALTH: Step = untilCommenced({
  ...HEALTHY_BEFORE,
  reads: () => ["health"],
  decide: (observed) => withReading(observed, "health", (results) => decideHealthBefore({ ...observed, results })),
});

export const CHECK_DEPENDENCIES: Step = untilCommenced({
  id: "ExternalDependenciesAvailable",
  stage: "Before",
  title: "Reach what it depends on",
  waitsFor: "the addresses in the settings answer",
  remedy: "a proxy or firewall, or an address that is out of date",
  reads: () => ["dependencies"],
  decide: (observed) =>
    withReading(
      observed,
      "dependencies",
      (missing) => missing.length === 0 ? done() : fail(`Not available: ${missing.join(", ")}`),
    ),
});

export const RESERVE_CAPACITY: Step = untilCommenced({
  id: "ComputeCapacityReserved",
  stage: "Before",
  title: "Add a machine for the pods that move",
  waitsFor:
    "the temporary workers are Ready, for `scale.timeOut`; then it goes on without, unless `capacity.onTimeout: Fail`",
  remedy:
    "quota or price of the cloud: what the Machines say; patterns of pools that match none; ArchwayUpgradeCapacityMissing",
  isSkipped: ({ capacity }) => !capacity.enabled,
  reads: ({ plan }) => plan.spec.capacity.enabled ? ["capacity"] : [],
  decide: (observed) => {
    if (!observed.plan.spec.capacity.enabled) return done();
    return withReading(observed, "capacity", (capacity) => decideCapacity(capacity, observed));
  },
});

function decideCapacity(capacity: CapacityState, observed: Observed): StepResult {
  switch (capacity.kind) {
    case "impossible":
      return done(notificationEffects("StateScaleSkipped", observed, { onFailure: "log" }));
    case "missing":
      return wait(`cloning ${capacity.machineSets.join(", ")}`, [{ kind: "reserveCapacity" }]);
    case "waiting":
      return wait(capacity.message);
    case "ready":
      return done([scalingFailed(0)]);
    case "timedOut": {
      if (observed.plan.spec.capacity.onTimeout === "Fail") return fail(capacity.message, [scalingFailed(1)]);
      return done([scalingFailed(1), ...notificationEffects("StateSkipped", observed)]);
    }
    default:
      return assertNever(capacity);
  }
}

function scalingFailed(value: 0 | 1): Effect {
  return { kind: "setMetric", metric: "upgradeoperator_scaling_failed", labels: {}, value };
}
