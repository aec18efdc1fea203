// `archway taints plan|apply|clean`: manages the architecture taints by hand, with the controller's decisions.
import { openRateLimiter } from "../k8s/write_limits.ts";
import { liftTaints, tryTolerations } from "../taints/cluster/write.ts";
import { readSurvey } from "../taints/cluster/watches.ts";
import { planOf } from "../taints/decide/plan.ts";
import type { ArchTaint } from "../vocabulary/taint.ts";
import { parseManagedTaint } from "../placement/decide/config/arch_taints.ts";
import { type CommandOptions, ExitCode, print } from "./output.ts";
import { applyTaints, type TaintsApplyDeps } from "./taints_apply.ts";
import { renderApplied, renderLifted, renderPlan } from "./taints_text.ts";

interface TaintsOptions extends CommandOptions {
  readonly archTaint: string;
}

/** Returns 1 when DaemonSets must be changed first, pods refuse their toleration, or something could not be changed. */
export async function runTaints(deps: TaintsApplyDeps, options: TaintsOptions): Promise<number> {
  const { terminal } = deps;
  const parsed = parseManagedTaint(options.archTaint);
  if (parsed.kind === "unparsable") {
    terminal.err(`archway: ${parsed.fault.message}\n`);
    return ExitCode.usage;
  }
  const { taint: { key, effect }, owner } = parsed.value;
  if (owner === "cloud") {
    terminal.err(`archway: Cannot manage the taint "${key}": the cloud puts it on nodes. Archway only tolerates it.\n`);
    return ExitCode.usage;
  }
  const rule = { key, effect };
  const verb = options.dryRun && options.positionals[0] === "apply" ? "plan" : options.positionals[0];
  if (verb === "plan") return await plan(deps, rule, options);
  return verb === "apply" ? await apply(deps, rule, options) : await clean(deps, rule, options);
}

async function plan(
  { api, terminal, clock, signal }: TaintsApplyDeps,
  rule: ArchTaint,
  { output }: TaintsOptions,
): Promise<number> {
  const survey = await readSurvey(api, rule, signal);
  const found = planOf(survey, await tryTolerations({ api, clock }, survey.needs, signal));
  print(terminal, output, { document: found, text: (width) => renderPlan(found, width) });
  // Other pods are no obstacle: `apply` gives them their tolerations before it taints a node.
  const isHindered = found.daemonSets.length > 0 || found.pods.some(({ accepts }) => accepts === "no");
  return isHindered ? ExitCode.no : ExitCode.done;
}

async function apply(deps: TaintsApplyDeps, rule: ArchTaint, { output }: TaintsOptions): Promise<number> {
  const applied = await applyTaints(deps, rule);
  print(deps.terminal, output, { document: applied, text: () => renderApplied(applied) });
  return applied.end === "done" ? ExitCode.done : ExitCode.no;
}

async function clean(
  { api, clock, terminal, signal }: TaintsApplyDeps,
  { key }: ArchTaint,
  { dryRun, output }: TaintsOptions,
): Promise<number> {
  const lifted = await liftTaints({ api, key, limiter: openRateLimiter(clock) }, { signal, dryRun });
  const document = { dryRun, lifted: [...lifted.lifted].sort(), left: lifted.left };
  print(terminal, output, { document, text: (width) => renderLifted(lifted, { dryRun, key, width }) });
  return lifted.left.length === 0 ? ExitCode.done : ExitCode.no;
}
