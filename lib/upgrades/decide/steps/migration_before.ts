// What must hold before a cluster is moved to a payload for several architectures: there is no way back from it.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import { isMigration } from "../release/target.ts";
import type { Baseline } from "../types/plan.ts";
import type { ClusterOperator, Payload } from "../types/cluster.ts";
import type { Observed } from "../types/observed.ts";
import type { Step } from "../types/steps.ts";
import { HEALTHY_BEFORE } from "./before.ts";
import { done, fail, hasCommenced, skipWhen, untilCommenced, withReading } from "./results.ts";

export const CHECK_PRECONDITIONS: Step = untilCommenced({
  ...HEALTHY_BEFORE,
  reads: () => ["pools", "buildingPools"],
  decide: (observed) =>
    withReading(observed, "pools", (pools) =>
      withReading(observed, "buildingPools", (building) => {
        const obstacles = [...clusterObstacles(observed), ...poolObstacles(pools, building)];
        return obstacles.length === 0 ? done() : fail(`The migration cannot begin: ${obstacles.join("; ")}`);
      })),
});

export const CHECK_PAYLOAD: Step = untilCommenced({
  id: "PayloadSupportsArchitectures",
  stage: "Before",
  title: "Find the payload's architectures",
  waitsFor: "the payload can be read and has the control plane's architecture",
  remedy: "is the registry reached, with the login in `openshift-config/pull-secret`?",
  reads: () => ["payload", "controlPlaneArchitectures"],
  decide: (observed) =>
    withReading(
      observed,
      "payload",
      (payload) =>
        withReading(observed, "controlPlaneArchitectures", (architectures) => {
          const problem = payloadProblem(payload, { architectures, version: observed.entry.version });
          return problem === undefined ? done() : fail(problem);
        }),
    ),
});

export const RECORD_BASELINE: Step = skipWhen(hasBaseline, {
  id: "BaselineRecorded",
  stage: "Before",
  title: "Record what runs now",
  waitsFor: "ClusterOperators and pools are read",
  remedy: "the API server",
  reads: (observed) => hasCommenced(observed) ? [] : ["clusterOperators", "pools"],
  decide: (observed) => {
    if (hasCommenced(observed)) return done([], { baseline: baselineInRetrospect(observed) });
    return withReading(
      observed,
      "clusterOperators",
      (operators) =>
        withReading(observed, "pools", (pools) => done([], { baseline: baselineNow(observed, { operators, pools }) })),
    );
  },
});

/** Before the request, a baseline of another release than the current one does not count: it is recorded anew. */
function hasBaseline(observed: Observed): boolean {
  const { baseline } = observed.entry;
  return baseline !== undefined && (hasCommenced(observed) || baseline.image === observed.clusterVersion.desired.image);
}

function clusterObstacles({ plan, clusterVersion }: Observed): readonly string[] {
  const { conditions, desired } = clusterVersion;
  const { version } = plan.spec.desired;
  const progressing = conditions.find(({ type }) => type === "Progressing");
  const failing = conditions.find(({ type, status }) => type === "Failing" && status === "True");
  const found: readonly (readonly [boolean, string])[] = [
    [progressing?.status !== "False", `the ClusterVersion is progressing: ${progressing?.message ?? "not known"}`],
    [failing !== undefined, `the ClusterVersion is failing: ${failing?.message ?? ""}`],
    [!isMigration(plan.spec.desired, clusterVersion), "the payload is one for several architectures already"],
    [desired.version !== version, `the cluster is at ${desired.version}, the plan says ${version}`],
  ];
  return found.filter(([holds]) => holds).map(([, message]) => message);
}

function poolObstacles(pools: readonly MachineConfigPool[], building: ReadonlySet<string>): readonly string[] {
  const kinds: readonly (readonly [string, (pool: MachineConfigPool) => boolean])[] = [
    ["paused (unpause them first)", ({ isPaused }) => isPaused],
    ["degraded", ({ isDegraded }) => isDegraded],
    ["building an image", ({ name }) => building.has(name)],
    ["still updating", ({ machineCount, updatedMachineCount }) => updatedMachineCount < machineCount],
  ];
  return kinds.flatMap(([what, holds]) => {
    const names = pools.filter(holds).map(({ name }) => name);
    return names.length === 0 ? [] : [`MachineConfigPools ${what}: ${names.join(", ")}`];
  });
}

function payloadProblem(
  { image, version, isIndex, architectures }: Payload,
  wanted: { readonly architectures: readonly string[]; readonly version: string },
): string | undefined {
  if (!isIndex) return `The payload ${image} is an image for one architecture, no index of several`;
  if (version !== wanted.version) {
    return `The payload ${image} is of version "${version}", the plan says ${wanted.version}`;
  }
  if (wanted.architectures.length === 0) return "The architecture of the control plane nodes is not known";
  const missing = wanted.architectures.filter((architecture) => !architectures.includes(architecture));
  if (missing.length === 0) return undefined;
  return `The payload ${image} holds no image for ${missing.join(", ")}, which the control plane runs on; ` +
    `it holds ${architectures.join(", ")}`;
}

function baselineNow(
  { clusterVersion }: Observed,
  { operators, pools }: {
    readonly operators: readonly ClusterOperator[];
    readonly pools: readonly MachineConfigPool[];
  },
): Baseline {
  const images = operators.filter(({ operatorImage }) => operatorImage !== "");
  return {
    image: clusterVersion.desired.image,
    operatorImages: Object.fromEntries(images.map(({ name, operatorImage }) => [name, operatorImage])),
    renderedConfigs: Object.fromEntries(
      pools.flatMap(({ name, currentRendered }) => currentRendered === "" ? [] : [[name, currentRendered]]),
    ),
  };
}

/** For a migration that something else began: only the ClusterVersion's history has the release before it. */
function baselineInRetrospect({ clusterVersion }: Observed): Baseline {
  const { desired, history } = clusterVersion;
  const before = history.find(({ image, state }) => state === "Completed" && image !== desired.image);
  return { image: before?.image ?? "", operatorImages: {}, renderedConfigs: {} };
}
