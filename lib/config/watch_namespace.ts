// The variable WATCH_NAMESPACE, with which the Managed Upgrade Operator is told where its plan is.
import type { Command } from "./flags.ts";
import type { ConfigValues } from "./values.ts";

const VARIABLE = "WATCH_NAMESPACE";

/**
 * What is wrong with it. A plan, its settings and the Lease are in one namespace: another one would be watched in vain, and
 * nothing would say so. Empty means that of the operator; other capabilities do not read it.
 */
export function watchNamespaceProblem(
  command: Command,
  { only, namespace }: Pick<ConfigValues, "only" | "namespace">,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const watched = env[VARIABLE] ?? "";
  if (command !== "serve" || only !== "upgrades" || watched === "" || watched === namespace) return undefined;
  return `Cannot use ${VARIABLE} "${watched}": upgrades work in namespace "${namespace}". ` +
    `Give both the same value: --namespace, NAMESPACE or OPERATOR_NAMESPACE, and ${VARIABLE}.`;
}
