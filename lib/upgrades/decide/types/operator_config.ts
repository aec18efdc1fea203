// The ConfigMap `managed-upgrade-operator-config`, decoded: every value, or its default, by a name with its unit.
import * as z from "zod";
import { parseGlob } from "../../../vocabulary/glob.ts";
import { Upgrades } from "../../names.ts";
import { DRAIN_MODES } from "./plan.ts";
import { parseYaml } from "../../../vocabulary/yaml.ts";
import { objectAt, textAt } from "../../../json.ts";
import { faultText } from "../../../parsed.ts";

const NO_TEXT = { error: "is not a text" };
const NO_LIST = { error: "is not a list" };
const NO_MAP = { error: "is not a map" };
const number = z.number({ error: "is not a number" });
const above = (fallback: number): z.ZodDefault<z.ZodNumber> => number.positive("must be above 0").default(fallback);
const fromZero = (fallback: number): z.ZodDefault<z.ZodNumber> =>
  number.nonnegative("must not be below 0").default(fallback);
const flag = z.boolean({ error: "is not true or false" }).default(false);

/** A section or list that is absent, or empty in YAML. */
const emptySection = (value: unknown): unknown => value ?? {};
const emptyList = (value: unknown): unknown => value ?? [];
const texts = z.preprocess(emptyList, z.array(z.string(NO_TEXT), NO_LIST));

const glob = z.string(NO_TEXT)
  .refine((pattern) => parseGlob(pattern) !== undefined, { error: ({ input }) => `"${input}" is not a valid pattern` });
const expression = z.string(NO_TEXT)
  .refine(isExpression, { error: ({ input }) => `"${input}" is not a valid regular expression` });
const url = z.string(NO_TEXT).refine(isUrl, { error: "is not an http or https URL" });

const SOURCES = ["OCM", "LOCAL"] as const;
/** Feature gates of the MUO that have an effect here; others are ignored. */
const FEATURE_GATES = ["PreHealthCheck", "ServiceLogNotification"] as const;

const manager = z.object({
  source: z.string(NO_TEXT).nullish(),
  ocmBaseUrl: z.string(NO_TEXT).nullish(),
  localConfigName: z.string(NO_TEXT).nullish(),
  watchInterval: above(60),
}, NO_MAP).transform(({ source: named, ocmBaseUrl, watchInterval: watchIntervalMinutes }) => {
  const source = SOURCES.find((one) => one === named?.toUpperCase()) ?? "none";
  return { source, ocmBaseUrl: source === "OCM" ? ocmBaseUrl ?? undefined : undefined, watchIntervalMinutes };
});

const maintenance = z.object({
  controlPlaneTime: above(90),
  ignoredAlerts: z.preprocess(emptySection, z.object({ controlPlaneCriticals: texts }, NO_MAP)),
}, NO_MAP).transform(({ controlPlaneTime: controlPlaneMinutes, ignoredAlerts: { controlPlaneCriticals } }) => {
  return { controlPlaneMinutes, controlPlaneCriticals };
});

const scale = z.object({
  timeOut: above(30),
  extraMachinePools: z.preprocess(emptyList, z.array(glob, NO_LIST)),
}, NO_MAP).transform(({ timeOut: timeoutMinutes, ...rest }) => ({ timeoutMinutes, ...rest }));

const upgradeWindow = z.object({
  timeOut: fromZero(120),
  delayTrigger: fromZero(30),
}, NO_MAP).transform(({ timeOut: timeoutMinutes, delayTrigger: delayTriggerMinutes }) => {
  return { timeoutMinutes, delayTriggerMinutes };
});

const nodeDrain = z.object({
  timeOut: above(45),
  expectedNodeDrainTime: above(8),
  disableDrainStrategies: flag,
  /** For plans without `spec.drain.mode`. The MUO has no such key. */
  mode: z.enum(DRAIN_MODES, { error: `is not one of ${DRAIN_MODES.join(", ")}` }).nullish(),
  /** Regular expressions, which may match any part of a namespace's name. */
  ignoredNamespacePatterns: z.preprocess(emptyList, z.array(expression, NO_LIST)),
}, NO_MAP).transform(({ timeOut: timeoutMinutes, expectedNodeDrainTime: expectedMinutes, mode, ...rest }) => {
  return { timeoutMinutes, expectedMinutes, mode: mode ?? undefined, ...rest };
});

const dependencies = z.object({
  http: z.preprocess(
    emptySection,
    z.object({
      timeout: number.min(1, "must be from 1 to 60").max(60, "must be from 1 to 60").default(10),
      urls: z.preprocess(emptyList, z.array(url, NO_LIST)),
    }, NO_MAP),
  ),
}, NO_MAP).transform(({ http: { timeout: timeoutSeconds, urls } }) => ({ timeoutSeconds, urls }));

const notifications = z.object({
  /** Gets notifications as JSON, beside all other sinks. The URL may be secret. The MUO has no such key. */
  webhook: z.preprocess(emptySection, z.object({ url: url.nullish() }, NO_MAP)),
}, NO_MAP).transform(({ webhook }) => ({ webhookUrl: webhook.url ?? undefined }));

const OperatorConfigSchema = z.object({
  /** The type of plans that a policy source creates. */
  upgradeType: z.enum(["OSD", "ARO", ""], { error: "is not one of OSD, ARO" }).nullish()
    .transform((type) => type === "OSD" ? "OSD" : "ARO"),
  configManager: z.preprocess(emptySection, manager),
  validation: z.preprocess(emptySection, z.object({ cincinnati: flag }, NO_MAP)),
  environment: z.preprocess(emptySection, z.object({ fedramp: flag }, NO_MAP)),
  maintenance: z.preprocess(emptySection, maintenance),
  scale: z.preprocess(emptySection, scale),
  upgradeWindow: z.preprocess(emptySection, upgradeWindow),
  nodeDrain: z.preprocess(emptySection, nodeDrain),
  healthCheck: z.preprocess(emptySection, z.object({ ignoredCriticals: texts, ignoredNamespaces: texts }, NO_MAP)),
  extDependencyAvailabilityChecks: z.preprocess(emptySection, dependencies),
  notifications: z.preprocess(emptySection, notifications),
  featureGate: z.preprocess(emptySection, z.object({ enabled: texts }, NO_MAP)),
}, NO_MAP).transform(({ extDependencyAvailabilityChecks, featureGate: { enabled }, ...sections }) => ({
  ...sections,
  dependencies: extDependencyAvailabilityChecks,
  featureGates: new Set(FEATURE_GATES.filter((gate) => enabled.includes(gate))),
}));

export type OperatorConfig = z.output<typeof OperatorConfigSchema>;

export type ConfigReading =
  /** `warnings` are about keys that have no effect as they are written. */
  | { readonly kind: "parsed"; readonly config: OperatorConfig; readonly warnings: readonly string[] }
  /** All problems, each with the key that it is about. */
  | { readonly kind: "unparsable"; readonly problems: readonly string[] }
  | { readonly kind: "unknown"; readonly why: string };

function isUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

export function parseOperatorConfig(text: string): ConfigReading {
  const tree = parseYaml(text);
  if (tree.kind === "unparsable") {
    return { kind: "unparsable", problems: [`${Upgrades.configMapKey} is ${faultText(tree.fault)}`] };
  }
  return decodeOperatorConfig(tree.value);
}

export function decodeOperatorConfig(tree: unknown): ConfigReading {
  const decoded = OperatorConfigSchema.safeParse(tree ?? {});
  const manager = objectAt(tree, "configManager");
  const problems = [
    ...(decoded.success ? [] : decoded.error.issues.map(({ path, message }) => describe(path, message))),
    ...sourceProblems(manager),
  ];
  if (!decoded.success || problems.length > 0) return { kind: "unparsable", problems };
  return { kind: "parsed", config: decoded.data, warnings: sourceWarnings(manager) };
}

/** What the chosen source lacks. This is no part of the schema, so that all problems are reported together. */
function sourceProblems(manager: unknown): readonly string[] {
  const kind = textAt(manager, "source").toUpperCase();
  const localName = textAt(manager, "localConfigName");
  if (kind === "OCM" && !isUrl(textAt(manager, "ocmBaseUrl"))) {
    return ["configManager.ocmBaseUrl is not an http or https URL; source OCM needs one"];
  }
  if (kind === "LOCAL" && localName !== "" && localName !== Upgrades.config) {
    return [`configManager.localConfigName must be ${Upgrades.config}, not "${localName}"`];
  }
  return [];
}

function sourceWarnings(manager: unknown): readonly string[] {
  const source = textAt(manager, "source");
  if (["", "OCM", "LOCAL"].includes(source.toUpperCase())) return [];
  return [`configManager.source "${source}" is not one of OCM, LOCAL: plans come from no source`];
}

function describe(path: readonly PropertyKey[], message: string): string {
  return path.length === 0 ? `${Upgrades.configMapKey} ${message}` : `${path.map(String).join(".")} ${message}`;
}
