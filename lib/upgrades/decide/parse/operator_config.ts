// Decodes the ConfigMap `managed-upgrade-operator-config`: the same keys as the original, with defaults that hold, and all
// problems at once. Keys that are not known are left alone.
import * as z from "zod";
import { parseGlob } from "../../../cluster/glob.ts";
import { parseYaml } from "../../../cluster/yaml.ts";
import { objectAt, textAt } from "../../../json.ts";
import { faultText } from "../../../parsed.ts";
import { Upgrades } from "../../names.ts";
import type { ConfigReading, OperatorConfig } from "../types/operator_config.ts";
import { DRAIN_MODES } from "../types/plan.ts";

const number = z.number({ error: "is not a number" });
const above = (fallback: number): z.ZodDefault<z.ZodNumber> => number.positive("must be above 0").default(fallback);
const fromZero = (fallback: number): z.ZodDefault<z.ZodNumber> =>
  number.nonnegative("must not be below 0").default(fallback);
const flag = z.boolean({ error: "is not true or false" }).default(false);

/** A section or list that is absent, or empty in YAML. */
const emptySection = (value: unknown): unknown => value ?? {};
const emptyList = (value: unknown): unknown => value ?? [];
const NO_LIST = { error: "is not a list" };
const NO_MAP = { error: "is not a map" };
const texts = z.preprocess(emptyList, z.array(z.string({ error: "is not a text" }), NO_LIST));

const glob = z.string({ error: "is not a text" })
  .refine((pattern) => parseGlob(pattern) !== undefined, { error: ({ input }) => `"${input}" is not a valid pattern` });
const expression = z.string({ error: "is not a text" })
  .refine(isExpression, { error: ({ input }) => `"${input}" is not a valid regular expression` });

const url = z.string({ error: "is not a text" }).refine(isUrl, { error: "is not an http or https URL" });

const SCHEMA = z.object({
  upgradeType: z.enum(["OSD", "ARO", ""], { error: "is not one of OSD, ARO" }).nullish(),
  configManager: z.preprocess(
    emptySection,
    z.object({
      source: z.string({ error: "is not a text" }).nullish(),
      ocmBaseUrl: z.string({ error: "is not a text" }).nullish(),
      localConfigName: z.string({ error: "is not a text" }).nullish(),
      watchInterval: above(60),
    }, NO_MAP),
  ),
  validation: z.preprocess(emptySection, z.object({ cincinnati: flag }, NO_MAP)),
  environment: z.preprocess(emptySection, z.object({ fedramp: flag }, NO_MAP)),
  maintenance: z.preprocess(
    emptySection,
    z.object({
      controlPlaneTime: above(90),
      ignoredAlerts: z.preprocess(emptySection, z.object({ controlPlaneCriticals: texts }, NO_MAP)),
    }, NO_MAP),
  ),
  scale: z.preprocess(
    emptySection,
    z.object({ timeOut: above(30), extraMachinePools: z.preprocess(emptyList, z.array(glob, NO_LIST)) }, NO_MAP),
  ),
  upgradeWindow: z.preprocess(emptySection, z.object({ timeOut: fromZero(120), delayTrigger: fromZero(30) }, NO_MAP)),
  nodeDrain: z.preprocess(
    emptySection,
    z.object({
      timeOut: above(45),
      expectedNodeDrainTime: above(8),
      disableDrainStrategies: flag,
      mode: z.enum(DRAIN_MODES, { error: `is not one of ${DRAIN_MODES.join(", ")}` }).nullish(),
      ignoredNamespacePatterns: z.preprocess(emptyList, z.array(expression, NO_LIST)),
    }, NO_MAP),
  ),
  healthCheck: z.preprocess(emptySection, z.object({ ignoredCriticals: texts, ignoredNamespaces: texts }, NO_MAP)),
  extDependencyAvailabilityChecks: z.preprocess(
    emptySection,
    z.object({
      http: z.preprocess(
        emptySection,
        z.object({
          timeout: number.min(1, "must be from 1 to 60").max(60, "must be from 1 to 60").default(10),
          urls: z.preprocess(emptyList, z.array(url, NO_LIST)),
        }, NO_MAP),
      ),
    }, NO_MAP),
  ),
  notifications: z.preprocess(
    emptySection,
    z.object({ webhook: z.preprocess(emptySection, z.object({ url: url.nullish() }, NO_MAP)) }, NO_MAP),
  ),
  featureGate: z.preprocess(emptySection, z.object({ enabled: texts }, NO_MAP)),
}, NO_MAP);

type Decoded = z.output<typeof SCHEMA>;

/** Decodes the text of the ConfigMap. */
export function parseOperatorConfig(text: string): ConfigReading {
  const tree = parseYaml(text);
  if (tree.kind === "unparsable") {
    return { kind: "unparsable", problems: [`${Upgrades.settingsKey} is ${faultText(tree.fault)}`] };
  }
  return decodeOperatorConfig(tree.value);
}

/** Decodes the tree of a text; null or undefined is an empty one. */
export function decodeOperatorConfig(tree: unknown): ConfigReading {
  const decoded = SCHEMA.safeParse(tree ?? {});
  const problems = [
    ...(decoded.success ? [] : decoded.error.issues.map(({ path, message }) => describe(path, message))),
    ...sourceProblems(objectAt(tree, "configManager")),
  ];
  if (!decoded.success || problems.length > 0) return { kind: "unparsable", problems };
  return { kind: "parsed", config: shape(decoded.data), warnings: sourceWarnings(decoded.data) };
}

function shape(data: Decoded): OperatorConfig {
  const source = (data.configManager.source ?? "").toUpperCase();
  const gates = ["PreHealthCheck", "ServiceLogNotification"] as const;
  return {
    upgradeType: data.upgradeType === "OSD" ? "OSD" : "ARO",
    configManager: {
      source: source === "OCM" || source === "LOCAL" ? source : "none",
      ocmBaseUrl: source === "OCM" ? data.configManager.ocmBaseUrl ?? undefined : undefined,
      localConfigName: data.configManager.localConfigName ?? Upgrades.config,
      watchIntervalMinutes: data.configManager.watchInterval,
    },
    validation: data.validation,
    environment: data.environment,
    maintenance: {
      controlPlaneMinutes: data.maintenance.controlPlaneTime,
      controlPlaneCriticals: data.maintenance.ignoredAlerts.controlPlaneCriticals,
    },
    scale: { timeoutMinutes: data.scale.timeOut, extraMachinePools: data.scale.extraMachinePools },
    upgradeWindow: {
      timeoutMinutes: data.upgradeWindow.timeOut,
      delayTriggerMinutes: data.upgradeWindow.delayTrigger,
    },
    nodeDrain: {
      timeoutMinutes: data.nodeDrain.timeOut,
      expectedMinutes: data.nodeDrain.expectedNodeDrainTime,
      disableDrainStrategies: data.nodeDrain.disableDrainStrategies,
      mode: data.nodeDrain.mode ?? undefined,
      ignoredNamespacePatterns: data.nodeDrain.ignoredNamespacePatterns,
    },
    healthCheck: data.healthCheck,
    dependencies: {
      timeoutSeconds: data.extDependencyAvailabilityChecks.http.timeout,
      urls: data.extDependencyAvailabilityChecks.http.urls,
    },
    notifications: { webhookUrl: data.notifications.webhook.url ?? undefined },
    gates: new Set(gates.filter((gate) => data.featureGate.enabled.includes(gate))),
  };
}

/** What the chosen source needs; apart from the schema, so that it is reported beside all other problems. */
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

function sourceWarnings({ configManager }: Decoded): readonly string[] {
  const source = configManager.source ?? "";
  if (["", "OCM", "LOCAL"].includes(source.toUpperCase())) return [];
  return [`configManager.source "${source}" is not one of OCM, LOCAL: plans come from no source`];
}

function describe(path: readonly PropertyKey[], message: string): string {
  return path.length === 0 ? `${Upgrades.settingsKey} ${message}` : `${path.map(String).join(".")} ${message}`;
}

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
