// `archway upgrade status|plan|suspend|resume`: the plan of a cluster, read by the same code that carries it out.
import { ignoring, serverNowMs } from "../k8s/api.ts";
import { isNotFound } from "../k8s/api_error.ts";
import { Resource } from "../k8s/types.ts";
import { Upgrades } from "../upgrades/names.ts";
import { parseUpgradeConfig } from "../upgrades/decide/types/plan.ts";
import { openClusterReader } from "../upgrades/cluster/cluster_reader.ts";
import { readInput, type UpgradeInput } from "../upgrades/cluster/plan_input.ts";
import { type CommandOptions, ExitCode, print } from "./output.ts";
import type { ReportDeps } from "./report.ts";
import { describePlan, describeStatus, effectOfSuspend, renderPlanned, renderStatusText } from "./upgrade_text.ts";

type UpgradeDeps = Pick<ReportDeps, "api" | "terminal" | "clock" | "signal">;

const { namespace } = Upgrades;

/**
 * Returns 1 when there is no plan, it has failed, or its settings are wrong; for `plan`, when anything is in its way.
 */
export async function runUpgrade(deps: UpgradeDeps, options: CommandOptions): Promise<number> {
  const [verb] = options.positionals;
  if (verb === "suspend" || verb === "resume") {
    return await setSuspend(deps, { ...options, suspend: verb === "suspend" });
  }
  const nowMs = serverNowMs(deps.clock, deps.api);
  const input = await readInput({ readApi: deps.api, namespace }, { nowMs, signal: deps.signal });
  if (input.known === undefined) return missing(deps, input);
  return verb === "plan" ? await plan(deps, input, options) : status(deps, input, options);
}

function status({ terminal }: UpgradeDeps, { known, config }: UpgradeInput, { output }: CommandOptions): number {
  if (known === undefined) return ExitCode.no;
  const described = describeStatus(known);
  print(terminal, output, { document: described, text: (width) => renderStatusText(described, width) });
  if (config.kind === "unparsable") {
    terminal.err(`archway: Cannot upgrade by the settings: ${config.problems.join("; ")}.\n`);
    return ExitCode.no;
  }
  return described.phase === "Failed" ? ExitCode.no : ExitCode.done;
}

async function plan(
  { api, terminal, signal }: UpgradeDeps,
  input: UpgradeInput,
  { output }: CommandOptions,
): Promise<number> {
  const reader = openClusterReader(api, signal);
  const [operators, pools] = await Promise.all([reader.operators(), reader.pools()]);
  const described = describePlan(input, { operators, pools });
  print(terminal, output, { document: described, text: () => renderPlanned(described) });
  return described.inTheWay.length === 0 ? ExitCode.done : ExitCode.no;
}

function missing({ terminal }: UpgradeDeps, { plan }: UpgradeInput): number {
  const why = plan.kind === "unknown" ? plan.why : `there is none in the namespace ${namespace}`;
  terminal.err(`archway: Cannot show the UpgradeConfig "${Upgrades.config}": ${why}.\n`);
  return plan.kind === "unknown" ? ExitCode.failed : ExitCode.no;
}

async function setSuspend(
  { api, terminal, signal }: UpgradeDeps,
  { dryRun, suspend }: CommandOptions & { readonly suspend: boolean },
): Promise<number> {
  const target = { namespace, name: Upgrades.config };
  const body = { kind: "merge", document: { spec: { suspend: suspend ? true : null } } } as const;
  const changed = dryRun
    ? api.get(Resource.upgradeConfigs, target, signal)
    : api.patch(Resource.upgradeConfigs, target, { body, signal });
  const config = await ignoring(isNotFound, changed);
  if (config === undefined) {
    terminal.err(`archway: Cannot change the UpgradeConfig "${target.name}": there is none in ${namespace}.\n`);
    return ExitCode.no;
  }
  const words = suspend ? `suspended: ${effectOfSuspend(parseUpgradeConfig(config))}` : "resumed";
  terminal.out(`UpgradeConfig ${target.name} ${dryRun ? "would be " : ""}${words}.\n`);
  return ExitCode.done;
}
