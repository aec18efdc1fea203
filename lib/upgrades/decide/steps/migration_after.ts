// The steps that complete a migration to a multi-architecture payload, by the rules of convergence.
import { notificationEffects } from "../notifications/notify.ts";
import { isStepDone } from "../status_changes.ts";
import { CONTROL_PLANE_RULES, decideConvergence, type MigrationFacts } from "../release/convergence.ts";
import { elapsedMs, MINUTE_MS, parseTime } from "../../../vocabulary/time.ts";
import type { SmokeState } from "../types/cluster.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { NewPlanCondition } from "../types/plan.ts";
import type { Step, StepResult } from "../types/steps.ts";
import { assertNever } from "../../../parsed.ts";
import { COMPLETED } from "./after.ts";
import {
  CONTROL_PLANE,
  controlPlaneFinished,
  controlPlaneTimeout,
  isControlPlaneLate,
  withPool,
} from "./control_plane.ts";
import { done, fail, once, versionLabel, wait, withReading } from "./results.ts";
import { nodesFinished, waitForNodes, WORKERS } from "./workers.ts";

const SMOKE = "SecondaryArchitectureProven";
const NO_BASELINE = { image: "", operatorImages: {}, renderedConfigs: {} };
/** How soon the remaining operating system images are read (ms). */
const READ_ON_MS = 1_000;

export const AWAIT_MIGRATED_CONTROL_PLANE: Step = once({
  ...CONTROL_PLANE,
  reads: () => ["pools"],
  decide: (observed, nowMs) => {
    const facts = factsOf(observed, NO_POOLS);
    const convergence = decideConvergence(facts, CONTROL_PLANE_RULES);
    if (convergence.kind === "converged") return done([...controlPlaneFinished(observed), stuckMetric(observed, 0)]);
    const obstacle = obstacleOf(observed);
    const late: readonly Effect[] = isControlPlaneLate(observed, nowMs) ? [controlPlaneTimeout(observed, 1)] : [];
    if (obstacle === undefined) {
      return wait(withPool(observed, convergence.message), [stuckMetric(observed, 0), ...late]);
    }
    const limitMs = observed.config.maintenance.controlPlaneMinutes * MINUTE_MS;
    const isStuck = elapsedMs(obstacle.sinceMs ?? nowMs, nowMs) > limitMs;
    const notices = isStuck ? notificationEffects("StateMigrationStuck", observed, { findings: obstacle.message }) : [];
    return wait(obstacle.message, [stuckMetric(observed, isStuck ? 1 : 0), ...late, ...notices]);
  },
});

export const AWAIT_MIGRATED_NODES: Step = once({
  ...WORKERS,
  reads: () => ["pools", "osImages", "silences", "notReadyNodes"],
  decide: (observed) =>
    withPools(observed, (pools) => {
      const convergence = decideConvergence(factsOf(observed, pools), ["nodes"]);
      return convergence.kind === "converged" ? nodesFinished(observed, pools.pools) : {
        ...waitForNodes(observed, { message: convergence.message, pools: pools.pools }),
        requeueAfterMs: readOnAfterMs(pools),
      };
    }),
});

/** Checks all rules together, after the steps before have waited for one rule after another. */
export const VERIFY_ARCHITECTURE: Step = once({
  id: "ArchitectureVerified",
  stage: "Control plane",
  title: "Check the architecture of what runs",
  waitsFor: "everything holds at once, ClusterOperators with other images among it",
  remedy: "the operators or pools that are named",
  reads: () => ["clusterOperators", "pools", "osImages"],
  decide: (observed) => whenConverged(observed, { smoke: "notWanted", decide: () => done() }),
});

export const PROVE_OTHER_ARCHITECTURE: Step = once({
  id: SMOKE,
  stage: "After",
  title: "Run a pod on the other architecture",
  waitsFor: "with `smoke`: a Ready node of another architecture, for `smoke.timeoutMinutes`; then with another machine",
  remedy: "`oc -n openshift-machine-api get machines`: image, zone and instance type of the MachineSet",
  isSkipped: ({ smoke }) => smoke === undefined,
  reads: ({ plan }) => plan.spec.smoke === undefined ? [] : ["smoke", "controlPlaneArchitectures"],
  decide: (observed, nowMs) => {
    if (observed.plan.spec.smoke === undefined) return done();
    return withReading(observed, "smoke", (smoke) => decideSmoke(smoke, { observed, nowMs }));
  },
});

/** Checks all rules once more, waits until workloads were inspected, and notifies what is possible from now on. */
export const SEND_MIGRATED: Step = once({
  ...COMPLETED,
  reads: () => ["clusterOperators", "pools", "osImages", "advisories"],
  decide: (observed) => {
    const isProven = observed.plan.spec.smoke === undefined || isStepDone(observed.entry, SMOKE);
    const decide = (): StepResult => {
      const { advisories } = observed.read;
      if (advisories?.kind === "observed" && advisories.value.kind === "looking") {
        return wait("the workloads of the cluster are being checked");
      }
      return done([
        ...notificationEffects("StateMultiArchCapable", observed),
        ...notificationEffects("StateCompleted", observed),
      ], {
        finding: capableFinding(observed),
      });
    };
    return whenConverged(observed, { smoke: isProven ? "passed" : "open", decide });
  },
});

function whenConverged(
  observed: Observed,
  { smoke, decide }: { readonly smoke: MigrationFacts["smoke"]; readonly decide: () => StepResult },
): StepResult {
  return withReading(observed, "clusterOperators", (operators) =>
    withPools(observed, (pools) => {
      const convergence = decideConvergence({ ...factsOf(observed, pools), operators, smoke });
      return convergence.kind === "converged"
        ? decide()
        : { ...wait(convergence.message), requeueAfterMs: readOnAfterMs(pools) };
    }));
}

type Pools = Pick<MigrationFacts, "pools" | "osImages">;

const NO_POOLS: Pools = { pools: [], osImages: new Map() };

function withPools(observed: Observed, decide: (pools: Pools) => StepResult): StepResult {
  return withReading(
    observed,
    "pools",
    (pools) => withReading(observed, "osImages", (osImages) => decide({ pools, osImages })),
  );
}

function readOnAfterMs({ osImages }: Pools): number | undefined {
  return [...osImages.values()].includes("unread") ? READ_ON_MS : undefined;
}

function factsOf({ entry, clusterVersion }: Observed, pools: Pools): MigrationFacts {
  const { version, baseline = NO_BASELINE } = entry;
  return { version, clusterVersion, baseline, ...pools, operators: [], smoke: "notWanted" };
}

interface Obstacle {
  readonly message: string;
  readonly sinceMs: number | undefined;
}

function obstacleOf({ clusterVersion }: Observed): Obstacle | undefined {
  const { conditions } = clusterVersion;
  const refused = conditions.find(({ type, status }) => type === "ReleaseAccepted" && status === "False");
  const failing = conditions.find(({ type, status }) => type === "Failing" && status === "True");
  const [found, words] = refused === undefined
    ? [failing, "the ClusterVersion is failing"] as const
    : [refused, "the payload was not accepted"] as const;
  if (found === undefined) return undefined;
  return { message: `${words}: ${found.message || found.reason}`, sinceMs: parseTime(found.lastTransitionTime) };
}

function decideSmoke(
  smoke: SmokeState,
  { observed, nowMs }: { readonly observed: Observed; readonly nowMs: number },
): StepResult {
  const { machineSetTemplate = "", timeoutMinutes = 0 } = observed.plan.spec.smoke ?? {};
  const remove: Effect = { kind: "deleteSmokeMachine" };
  switch (smoke.kind) {
    case "absent":
      return wait(`a machine like those of ${machineSetTemplate} is started`, [
        { kind: "createSmokeMachine", template: machineSetTemplate },
      ]);
    case "waiting":
      if (elapsedMs(smoke.sinceMs, nowMs) <= timeoutMinutes * MINUTE_MS) return wait(smoke.message);
      return fail(`No node of another architecture became ready within ${timeoutMinutes} minutes: ${smoke.message}`, [
        remove,
      ]);
    case "ready":
      return withReading(
        observed,
        "controlPlaneArchitectures",
        (architectures) =>
          architectures.includes(smoke.architecture)
            ? fail(
              `Node ${smoke.node} has the architecture of the control plane, ${smoke.architecture}: ` +
                "name a MachineSet of another one in spec.smoke.machineSetTemplate",
              [remove],
            )
            : done([remove]),
      );
    default:
      return assertNever(smoke);
  }
}

function capableFinding({ entry, read }: Observed): NewPlanCondition {
  const { advisories } = read;
  const sentences = advisories?.kind === "observed" && advisories.value.kind === "found"
    ? advisories.value.sentences
    : [];
  return {
    type: "MultiArchCapable",
    status: "True",
    reason: "Migrated",
    message: [
      `The payload of ${entry.version} is for several architectures, for good.`,
      ...sentences,
    ].join(" "),
  };
}

function stuckMetric(observed: Observed, value: 0 | 1): Effect {
  return { kind: "setMetric", metric: "archway_upgrade_migration_stuck", labels: versionLabel(observed), value };
}
