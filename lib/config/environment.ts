// Checks what is given but is no flag: removed flags, settings, misspelt variables, WATCH_NAMESPACE. Else they would be
// ignored silently.
import { FILE_SETTINGS, type FileValues, settingOf } from "./file.ts";
import { type Command, type ConfigValues, environmentName, FLAGS } from "./flags.ts";

/**
 * Flags that were removed, with what replaces each. Their variables are refused as well: to ignore a variable would
 * change what runs.
 */
export const REMOVED_FLAGS: Readonly<Record<string, string>> = {
  "admin-url": "Open /registries of the running Archway's admin address.",
  "avoid-failed-architectures": "Give --exec-format-errors=avoid.",
  "certs-dir": inFile("certsDir"),
  "check-configs": "Use `archway index inspect IMAGE`.",
  "docker-config": inFile("dockerConfig"),
  "failures": "Use `archway report` or `archway explain POD`.",
  "identity": "Leave it out. In a pod it is POD_NAME, which the manifests set.",
  "migration": "Leave it out, and apply the component manifests/components/migration.",
  "registries": "Use --trace, or open /registries of a running Archway's admin address.",
  "registries-conf": inFile("registriesConf"),
  "repair-exec-format-errors": "Give --exec-format-errors=repair.",
  "runbook-base-url": "Annotate the Deployment archway with archway.dev/runbook-base-url.",
  "taints-fail-open-after": inFile("taintsFailOpenAfter"),
  "tls-mode": "Files are used where --tls-cert and --tls-key are given.",
  "tolerate-arch-taints": "Give --arch-taints=tolerate; set tolerateArchTaints in the file that --config names.",
  "webhook-path": "Set webhookPath (secret or plain) in the file that --config names.",
};

/** Commands that were removed, with what replaces each. */
export const REMOVED_COMMANDS: Readonly<Record<string, string>> = {
  "release": "`archway ungate` lifts the gates of all pods; `deno task release` builds a release.",
};

function inFile(key: keyof FileValues): string {
  return `Set ${key} in the file that --config names.`;
}

/** What to do instead of a flag that was removed or is a setting of the file; undefined for any other flag. */
export function adviceOnNonFlag(flag: string): string | undefined {
  if (Object.hasOwn(REMOVED_FLAGS, flag)) return `it was removed. ${REMOVED_FLAGS[flag]}`;
  const setting = settingOf(flag);
  return setting === undefined ? undefined : `${setting} is a setting of the file that --config names.`;
}

/** Flags that were removed, and settings of the file as flags are written. */
const NON_FLAGS = [...Object.keys(REMOVED_FLAGS), ...FILE_SETTINGS.map(({ key }) => kebab(key))];

export function problemsOfNonFlags(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [...new Set(NON_FLAGS)].flatMap((flag) => {
    const name = environmentName(flag);
    return (env[name] ?? "") === "" ? [] : [`Cannot use ${name}: ${adviceOnNonFlag(flag)}`];
  });
}

/** Variables that Kubernetes sets in a pod for each Service of its namespace, such as `archway-webhook`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

/** Variables of tests, which start Archway with their own environment. */
const OF_TESTS = /^ARCHWAY_(?:TEST|CHAOS|JUNIT|DENOKV)(?:_|$)/;

export function warningsOf(variables: readonly string[]): readonly string[] {
  const known = new Set([...FLAGS.map(({ name }) => name), ...NON_FLAGS].map(environmentName));
  return variables
    .filter((name) =>
      name.startsWith("ARCHWAY_") && !known.has(name) && !SERVICE_LINK.test(name) && !OF_TESTS.test(name)
    )
    .toSorted()
    .map((name) => `Ignored the variable ${name}: no flag has it. See \`archway COMMAND --help\`.`);
}

function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const WATCH_NAMESPACE = "WATCH_NAMESPACE";

/**
 * What is wrong with WATCH_NAMESPACE (of the Managed Upgrade Operator): a namespace other than Archway's would be
 * ignored silently.
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
