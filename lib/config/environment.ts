// Variables named ARCHWAY_… that no flag has: most likely misspelt, and otherwise without any sign of it.
import { FILE_SETTINGS } from "./file.ts";
import { environmentName, FLAGS } from "./flags.ts";

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
