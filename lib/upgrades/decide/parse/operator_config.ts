// Decodes the ConfigMap `managed-upgrade-operator-config`, and reports all problems at once.
import { parseYaml } from "../../../cluster/yaml.ts";
import { objectAt, textAt } from "../../../json.ts";
import { faultText } from "../../../parsed.ts";
import { Upgrades } from "../../names.ts";
import { type ConfigReading, isUrl, OperatorConfigSchema } from "../types/operator_config.ts";

export function parseOperatorConfig(text: string): ConfigReading {
  const tree = parseYaml(text);
  if (tree.kind === "unparsable") {
    return { kind: "unparsable", problems: [`${Upgrades.settingsKey} is ${faultText(tree.fault)}`] };
  }
  return decodeOperatorConfig(tree.value);
}

/** Decodes the tree of a text; null or undefined is an empty one. */
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

function sourceWarnings(manager: unknown): readonly string[] {
  const source = textAt(manager, "source");
  if (["", "OCM", "LOCAL"].includes(source.toUpperCase())) return [];
  return [`configManager.source "${source}" is not one of OCM, LOCAL: plans come from no source`];
}

function describe(path: readonly PropertyKey[], message: string): string {
  return path.length === 0 ? `${Upgrades.settingsKey} ${message}` : `${path.map(String).join(".")} ${message}`;
}
