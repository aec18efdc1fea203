// The steps around the control plane: window, request, completion, window.
import { notificationEffects } from "../notifications/notify.ts";
import { decideRequest, isCompleted } from "../release/target.ts";
import { isStepDone } from "../status_changes.ts";
import { elapsedMs, MINUTE_MS, parseTime } from "../../../vocabulary/time.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { Step, StepWords } from "../types/steps.ts";
import type { JsonObject } from "../../../json.ts";
import { assertNever } from "../../../parsed.ts";
import { describeControlPlane } from "../pools.ts";
import { controlPlaneSilenceEffects, endSilenceEffects } from "../silences.ts";
import {
  COMMENCE_STEP,
  done,
  hasCommenced,
  once,
  SILENCE_STEP_WORDS,
  skipWhen,
  untilCommenced,
  versionLabel,
  wait,
  withReading,
} from "./results.ts";

const OPEN = "ControlPlaneMaintenanceWindowCreated";
/** Wait (ms) after a change of the channel, until the ClusterVersion lists the updates of the new one. */
const CHANNEL_MS = 5_000;

/** Silences alerts for as long as the control plane may take. Once the upgrade has begun, that time is not extended. */
export const OPEN_CONTROL_PLANE_WINDOW: Step = skipWhen(
  // If something else began the upgrade, the control plane may have arrived before any step ran.
  (observed) =>
    hasCommenced(observed) &&
    (isStepDone(observed.entry, OPEN) || isCompleted(observed.plan.spec.desired, observed.clusterVersion)),
  {
    ...SILENCE_STEP_WORDS,
    id: OPEN,
    stage: "Control plane",
    title: "Silence the alerts",
    reads: () => ["silences"],
    decide: (observed, nowMs) =>
      withReading(observed, "silences", (silences) => {
        const { controlPlaneMinutes, controlPlaneCriticals } = observed.config.maintenance;
        const { version } = observed.entry;
        const endsAtMs = nowMs + controlPlaneMinutes * MINUTE_MS;
        return done(controlPlaneSilenceEffects({ version, criticals: controlPlaneCriticals, endsAtMs }, silences));
      }),
  },
);

/** Requests the target in the ClusterVersion. From here on there is no way back. */
export const COMMENCE: Step = untilCommenced({
  id: COMMENCE_STEP,
  stage: "Control plane",
  title: "Request the version",
  waitsFor: "the ClusterVersion lists the version",
  remedy: "`oc adm upgrade`: is the version in that channel, is another update under way?",
  reads: () => [],
  decide: (observed) => {
    const { plan, clusterVersion } = observed;
    const request = decideRequest(plan.spec.desired, clusterVersion);
    const { resourceVersion } = clusterVersion;
    const effectsWith = (patch: JsonObject): readonly Effect[] => [
      { kind: "setMetric", metric: "upgradeoperator_upgrade_window_breached", labels: {}, value: 0 },
      ...notificationEffects("StateControlPlaneStartedSL", observed),
      { kind: "patchClusterVersion", patch, resourceVersion },
    ];
    switch (request.kind) {
      case "asked":
        return done();
      case "release":
        return done(effectsWith(request.patch));
      case "channel": {
        const effects = effectsWith(request.patch);
        const message = `channel ${plan.spec.desired.channel} is set, its updates are not listed yet`;
        return { kind: "wait", message, effects, requeueAfterMs: CHANNEL_MS };
      }
      case "notOffered":
        return wait(request.message);
      default:
        return assertNever(request);
    }
  },
});

export const CONTROL_PLANE: StepWords = {
  id: "ControlPlaneUpgraded",
  stage: "Control plane",
  title: "Wait for the control plane",
  waitsFor: "the ClusterVersion has completed it",
  remedy:
    "its message names the pool `master` while that is behind, and degraded pools; its conditions `Failing`, `ReleaseAccepted`; ArchwayUpgradeControlPlaneSlow, ArchwayUpgradeMigrationStuck",
};

/** Waits for the control plane. If it takes too long, only an alert fires: an upgrade cannot be reverted. */
export const AWAIT_CONTROL_PLANE: Step = once({
  ...CONTROL_PLANE,
  reads: () => ["pools"],
  decide: (observed, nowMs) => {
    if (isCompleted(observed.plan.spec.desired, observed.clusterVersion)) return done(controlPlaneFinished(observed));
    const message = withPool(observed, progressMessage(observed));
    return isControlPlaneLate(observed, nowMs) ? wait(message, [controlPlaneTimeout(observed, 1)]) : wait(message);
  },
});

export const CLOSE_CONTROL_PLANE_WINDOW: Step = once({
  ...SILENCE_STEP_WORDS,
  id: "ControlPlaneMaintenanceWindowRemoved",
  stage: "Control plane",
  title: "End the silences",
  reads: () => ["silences"],
  decide: (observed) =>
    withReading(observed, "silences", (silences) => done(endSilenceEffects("controlPlane", silences))),
});

export function controlPlaneFinished(observed: Observed): readonly Effect[] {
  return [...notificationEffects("StateControlPlaneFinishedSL", observed), controlPlaneTimeout(observed, 0)];
}

export function controlPlaneTimeout(observed: Observed, value: 0 | 1): Effect {
  return { kind: "setMetric", metric: "upgradeoperator_controlplane_timeout", labels: versionLabel(observed), value };
}

export function isControlPlaneLate({ plan, config, clusterVersion, entry }: Observed, nowMs: number): boolean {
  const release = clusterVersion.history.find(({ version }) => version === entry.version);
  const startedMs = release?.startedMs ?? parseTime(plan.spec.upgradeAt);
  return startedMs !== undefined && elapsedMs(startedMs, nowMs) > config.maintenance.controlPlaneMinutes * MINUTE_MS;
}

function progressMessage({ clusterVersion }: Observed): string {
  const progressing = clusterVersion.conditions.find(({ type, status }) => type === "Progressing" && status === "True");
  return progressing?.message || "the control plane is being upgraded";
}

/** Adds to a message what the nodes of the control plane wait for. */
export function withPool({ read }: Observed, message: string): string {
  const pools = read.pools?.kind === "observed" ? read.pools.value : [];
  return [message, ...describeControlPlane(pools)].join("; ");
}
