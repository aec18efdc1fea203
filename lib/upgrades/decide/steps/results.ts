// Answers of steps, and what several steps have in common.
import { isCommenced } from "../release/target.ts";
import { isStepDone } from "../status_changes.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed, ReadingName, Readings } from "../types/observed.ts";
import type { Step, StepRecord, StepResult, StepWords } from "../types/steps.ts";

export function done(effects: readonly Effect[] = [], record: StepRecord | undefined = undefined): StepResult {
  return { kind: "done", effects, record };
}

export function wait(
  message: string,
  effects: readonly Effect[] = [],
  record: StepRecord | undefined = undefined,
): StepResult {
  return { kind: "wait", message, effects, record };
}

export function fail(message: string, effects: readonly Effect[] = []): StepResult {
  return { kind: "fail", message, effects };
}

export function withReading<Name extends ReadingName>(
  observed: Observed,
  name: Name,
  decide: (value: Readings[Name]) => StepResult,
): StepResult {
  const reading = observed.read[name];
  if (reading?.kind === "observed") return decide(reading.value);
  return fail(`Cannot read ${READING_NAMES[name]}: ${reading?.why ?? "it was not asked for"}`);
}

export const SILENCE_STEP_WORDS: Pick<StepWords, "waitsFor" | "remedy"> = {
  waitsFor: "Alertmanager takes the silence, or its end",
  remedy: "does Alertmanager run in `openshift-monitoring`? May the ServiceAccount `archway-upgrades` use it?",
};

export const COMMENCE_STEP = "UpgradeCommenced";

/** Whether the target was requested in the ClusterVersion, by any client. Archway requests it only once. */
export function hasCommenced(
  { plan, clusterVersion, entry }: Pick<Observed, "plan" | "clusterVersion" | "entry">,
): boolean {
  return isStepDone(entry, COMMENCE_STEP) || isCommenced(plan.spec.desired, clusterVersion);
}

/** Decides the step anew in every run until the update is requested, and skips it from then on. */
export function untilCommenced(step: Step): Step {
  return skipWhen(hasCommenced, step);
}

/** Skips the step once it is done. */
export function once(step: Step): Step {
  return skipWhen(({ entry }) => isStepDone(entry, step.id), step);
}

export function skipWhen(holds: (observed: Observed) => boolean, step: Step): Step {
  return {
    ...step,
    reads: (observed) => holds(observed) ? [] : step.reads(observed),
    decide: (observed, nowMs) => holds(observed) ? done() : step.decide(observed, nowMs),
  };
}

export function versionLabel({ entry }: Observed): Readonly<Record<string, string>> {
  return { version: entry.version };
}

const READING_NAMES: Readonly<Record<ReadingName, string>> = {
  clusterOperators: "the ClusterOperators",
  pools: "the MachineConfigPools",
  buildingPools: "the builds of node images",
  notReadyNodes: "the nodes",
  osImages: "the operating system images of the MachineConfigPools",
  controlPlaneArchitectures: "the architectures of the control plane nodes",
  silences: "the silences of Alertmanager",
  capacity: "the temporary workers",
  capacityLeft: "the temporary workers",
  health: "the health of the cluster",
  healthAfter: "the health of the cluster",
  dependencies: "the services that the upgrade depends on",
  payload: "the release payload",
  graph: "the update graph",
  policy: "the policy source",
  smoke: "the MachineSet of the other architecture",
  advisories: "the workloads and the settings of images",
  alertsDuring: "the alerts during the upgrade",
};
