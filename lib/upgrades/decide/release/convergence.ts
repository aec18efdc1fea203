// When a migration is complete. Versions stay the same, so images are compared: those of operators, then of nodes.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import { entryOf } from "../../../json.ts";
import type { ClusterOperator, ClusterVersion, OsImageState } from "../types/cluster.ts";
import type { Baseline } from "../types/plan.ts";

export interface MigrationFacts {
  readonly version: string;
  readonly clusterVersion: ClusterVersion;
  readonly operators: readonly ClusterOperator[];
  readonly pools: readonly MachineConfigPool[];
  readonly osImages: ReadonlyMap<string, OsImageState>;
  readonly baseline: Baseline;
  /** The check by a machine of another architecture: `open` until its node is ready. */
  readonly smoke: "notWanted" | "open" | "passed";
}

/** The rules, in the order in which a cluster comes to fulfil them. */
type ConvergenceRule = "architecture" | "release" | "settled" | "operators" | "nodes" | "smoke";

/** `open`: the first rule that is not fulfilled, and what it waits for. */
type Convergence =
  | { readonly kind: "converged" }
  | { readonly kind: "open"; readonly rule: ConvergenceRule; readonly message: string };

type Check = (facts: MigrationFacts) => string | undefined;

const CHECKS: readonly (readonly [ConvergenceRule, Check])[] = [
  ["architecture", checkArchitecture],
  ["release", checkRelease],
  ["settled", checkSettled],
  ["operators", checkOperators],
  ["nodes", checkNodes],
  ["smoke", checkSmoke],
];

export function decideConvergence(
  facts: MigrationFacts,
  rules: readonly ConvergenceRule[] = CHECKS.map(([rule]) => rule),
): Convergence {
  for (const [rule, check] of CHECKS) {
    const message = rules.includes(rule) ? check(facts) : undefined;
    if (message !== undefined) return { kind: "open", rule, message };
  }
  return { kind: "converged" };
}

export const CONTROL_PLANE_RULES: readonly ConvergenceRule[] = ["architecture", "release", "settled"];

function checkArchitecture({ clusterVersion }: MigrationFacts): string | undefined {
  const { architecture } = clusterVersion.desired;
  return architecture === "Multi" ? undefined : "the ClusterVersion does not report the architecture Multi yet";
}

function checkRelease({ version, clusterVersion, baseline }: MigrationFacts): string | undefined {
  const [latest] = clusterVersion.history;
  if (latest === undefined || latest.version !== version) return `version ${version} is not the latest in the history`;
  if (latest.state !== "Completed") return `version ${version} is not completed yet`;
  return latest.image === baseline.image ? "the release has still the image from before the migration" : undefined;
}

function checkSettled({ clusterVersion }: MigrationFacts): string | undefined {
  const progressing = clusterVersion.conditions.find(({ type }) => type === "Progressing");
  if (progressing?.status === "False") return undefined;
  return `the ClusterVersion is progressing${progressing?.message ? `: ${progressing.message}` : ""}`;
}

/** Operators that publish no image, or published none before, prove nothing either way. */
function checkOperators({ operators, baseline }: MigrationFacts): string | undefined {
  const late = operators.filter(({ name, operatorImage }) =>
    operatorImage !== "" && operatorImage === entryOf(baseline.operatorImages, name)
  ).map(({ name }) => name);
  return late.length === 0 ? undefined : `operators with their image from before: ${late.join(", ")}`;
}

function checkNodes(facts: MigrationFacts): string | undefined {
  const late = facts.pools.filter(({ isPaused }) => !isPaused).flatMap((pool) => {
    const why = checkPool(pool, facts);
    return why === undefined ? [] : [`${pool.name} (${why})`];
  });
  return late.length === 0 ? undefined : `MachineConfigPools: ${late.join(", ")}`;
}

function checkPool(pool: MachineConfigPool, { osImages, baseline }: MigrationFacts): string | undefined {
  if (pool.updatedMachineCount < pool.machineCount) {
    return `${pool.updatedMachineCount} of ${pool.machineCount} updated`;
  }
  if (!pool.isUpdated) return "not Updated";
  const before = entryOf(baseline.renderedConfigs, pool.name);
  if (before === undefined) return undefined;
  if (pool.currentRendered === before) return "configuration from before";
  return IMAGE_OBSTACLES[osImages.get(pool.name) ?? "unread"];
}

const IMAGE_OBSTACLES: Readonly<Partial<Record<OsImageState, string>>> = {
  unread: "operating system image not read yet",
  asBefore: "operating system image from before",
};

/** The rendered MachineConfigs of a pool, now and before, whose operating system images are to be compared. */
export interface ImageComparison {
  readonly pool: string;
  readonly config: string;
  readonly before: string;
}

/** Only of pools that have been updated to another configuration: the others are waited for anyway. */
export function imageComparisons(
  pools: readonly MachineConfigPool[],
  { renderedConfigs }: Pick<Baseline, "renderedConfigs">,
): readonly ImageComparison[] {
  return pools.flatMap((pool) => {
    const { name, currentRendered: config } = pool;
    const before = entryOf(renderedConfigs, name);
    if (pool.isPaused || !pool.isUpdated || pool.updatedMachineCount < pool.machineCount) return [];
    return before === undefined || before === config ? [] : [{ pool: name, config, before }];
  });
}

function checkSmoke({ smoke }: MigrationFacts): string | undefined {
  return smoke === "open" ? "no node of another architecture has become ready yet" : undefined;
}
