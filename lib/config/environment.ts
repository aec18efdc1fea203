// Environment variables that are no flags: misspelt ones, which would otherwise be ignored silently, and WATCH_NAMESPACE.
import { FILE_SETTINGS } from "./file.ts";
import { type Command, environmentName, FLAGS } from "./flags.ts";
import type { ConfigValues } from "./values.ts";

/** What Kubernetes sets in a pod for each Service of the namespace, so for `archway-webhook` and `archway-metrics`. */
const OF_SERVICE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/** What tests set, which start Archway themselves. */
const OF_TESTS = /^ARCHWAY_(?:TEST|CHAOS|JUNIT|DENOKV)(?:_|$)/;

/** One sentence for each variable that no flag of any command has. Pure. */
export function warningsOf(variables: readonly string[]): readonly string[] {
  const known = new Set(FLAGS.map(({ name }) => environmentName(name)));
  return variables
    .filter((name) => name.startsWith("ARCHWAY_") && !known.has(name) && !OF_SERVICE.test(name) && !OF_TESTS.test(name))
    .toSorted()
    .map((name) => `Ignored the variable ${name}: ${reasonOf(name)}`);
}

function reasonOf(variable: string): string {
  const setting = FILE_SETTINGS.find(({ key }) => environmentName(kebab(key)) === variable)?.key;
  return setting === undefined
    ? "no flag has it. See `archway COMMAND --help`."
    : `${setting} is a setting of the file that --config names.`;
}

function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const WATCH_NAMESPACE = "WATCH_NAMESPACE";

/**
 * What is wrong with WATCH_NAMESPACE, from which the Managed Upgrade Operator reads the namespace of its plan. A plan, its
 * settings and the Lease are in one namespace, so another value would be ignored silently. Empty means the namespace of the
 * operator; other capabilities do not read it.
 */
export function watchNamespaceProblems(
  command: Command,
  { only, namespace }: Pick<ConfigValues, "only" | "namespace">,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const watched = env[WATCH_NAMESPACE] ?? "";
  if (command !== "serve" || only !== "upgrades" || watched === "" || watched === namespace) return [];
  return [
    `Cannot use ${WATCH_NAMESPACE} "${watched}": upgrades work in namespace "${namespace}". ` +
    `Give both the same value: --namespace, NAMESPACE or OPERATOR_NAMESPACE, and ${WATCH_NAMESPACE}.`,
  ];
}
