// The settings of placement in this installation, from flags: parsed, or all their problems at once.
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import type { ArchTaint } from "../../../vocabulary/taint.ts";
import { parseArchTaint, parseManagedTaint } from "./arch_taints.ts";

/** The node label that stands for a variant: `amd64/v3` → `example.com/level In [v3, v4]`. */
export interface VariantLabel {
  readonly architecture: string;
  readonly variant: string;
  readonly key: string;
  /** Empty: the label must merely exist. */
  readonly values: readonly string[];
}

/** A RuntimeClass's effect: `skip` ignores its pods; `add` names architectures that it emulates. */
export type RuntimeClassRule =
  | { readonly kind: "skip" }
  | { readonly kind: "add"; readonly architectures: readonly string[] };

/** Which image volumes count: `auto` only indexes, `require` all images, `ignore` none. */
export type ImageVolumes = "auto" | "require" | "ignore";

export interface PlacementSettings {
  readonly operatorNamespace: string;
  readonly maxGateAgeMs: number;
  readonly warmAdmission: boolean;
  /** Ignored namespaces: names, or prefixes ending with `*`. */
  readonly systemNamespaces: readonly string[];
  /** Taints to tolerate for the decided architectures; empty = off. */
  readonly toleratedTaints: readonly ArchTaint[];
  /** Taints that Archway itself puts on nodes. Pods without a decision tolerate them, too. */
  readonly ownTaints: readonly ArchTaint[];
  readonly variantLabels: readonly VariantLabel[];
  readonly runtimeClasses: Readonly<Record<string, RuntimeClassRule>>;
  readonly imageVolumes: ImageVolumes;
  readonly daemonSets: "ignore" | "warn" | "constrain";
  readonly audit: boolean;
}

export function auditOnly(settings: PlacementSettings): PlacementSettings {
  return { ...settings, audit: true };
}

/** The flags' texts and values from lib/config. Durations in ms. */
interface PlacementOptions {
  readonly namespace: string;
  readonly systemNamespaces: readonly string[];
  readonly maxGateAge: number;
  readonly warmAdmission: boolean;
  readonly archTaints: "off" | "tolerate" | "manage";
  /** Tolerated taints besides the managed one. Undefined: `gke` with `tolerate`, else none. */
  readonly tolerateArchTaints?: readonly string[] | undefined;
  readonly archTaint: string;
  readonly variantLabels: readonly string[];
  readonly runtimeClasses: readonly string[];
  readonly imageVolumes: ImageVolumes;
  readonly daemonsets: "ignore" | "warn" | "constrain";
  readonly audit: boolean;
}

type ParsedSettings =
  | { readonly kind: "parsed"; readonly value: PlacementSettings }
  | { readonly kind: "unparsable"; readonly problems: readonly string[] };

export function parsePlacementSettings(options: PlacementOptions): ParsedSettings {
  const problems: string[] = [];
  const keep = <T>(result: Parsed<T>): readonly T[] => {
    if (result.kind === "parsed") return [result.value];
    problems.push(result.fault.message);
    return [];
  };
  const { archTaints, tolerateArchTaints = archTaints === "tolerate" ? ["gke"] : [] } = options;
  const managed = archTaints === "manage" ? keep(parseManagedTaint(options.archTaint)) : [];
  if (archTaints === "off" && tolerateArchTaints.length > 0) {
    problems.push("Cannot use tolerateArchTaints: give --arch-taints=tolerate, or manage.");
  }
  const value: PlacementSettings = {
    operatorNamespace: options.namespace,
    systemNamespaces: options.systemNamespaces.flatMap((text) => keep(parseNamespacePattern(text))),
    maxGateAgeMs: options.maxGateAge,
    warmAdmission: options.warmAdmission,
    toleratedTaints: [
      ...managed.map(({ taint }) => taint),
      ...tolerateArchTaints.flatMap((text) => keep(parseArchTaint(text))),
    ],
    ownTaints: managed.filter(({ owner }) => owner === "archway").map(({ taint }) => taint),
    variantLabels: options.variantLabels.flatMap((text) => keep(parseVariantLabel(text))),
    runtimeClasses: Object.fromEntries(options.runtimeClasses.flatMap((text) => keep(parseRuntimeClass(text)))),
    imageVolumes: options.imageVolumes,
    daemonSets: options.daemonsets,
    audit: options.audit,
  };
  return problems.length === 0 ? { kind: "parsed", value } : { kind: "unparsable", problems };
}

/** All problems of the options; none when they can be parsed. */
export function placementProblems(options: PlacementOptions): readonly string[] {
  const parsed = parsePlacementSettings(options);
  return parsed.kind === "unparsable" ? parsed.problems : [];
}

/** Parses `NAME` or `PREFIX*`. */
function parseNamespacePattern(text: string): Parsed<string> {
  if (/^[a-z0-9][-a-z0-9]{0,62}\*?$/.test(text)) return asParsed(text);
  return unparsable(`Cannot read system namespace "${text}": it is neither NAME nor BEGINNING*.`);
}

/** Parses `NAME=skip` or `NAME=ARCH+ARCH`. */
function parseRuntimeClass(text: string): Parsed<readonly [string, RuntimeClassRule]> {
  const [, name, rule] = /^([a-z0-9][-a-z0-9.]*)=([a-z0-9+]+)$/.exec(text) ?? [];
  const architectures = (rule ?? "").split("+");
  if (name === undefined || architectures.includes("")) {
    return unparsable(`Cannot read runtime class "${text}": it is neither NAME=skip nor NAME=ARCH+ARCH.`);
  }
  return asParsed([name, rule === "skip" ? { kind: "skip" } : { kind: "add", architectures }]);
}

/**
 * Parses one value of the setting `variantLabels`: `amd64/v3=KEY` (the label exists) or `amd64/v3=KEY=VALUE[|VALUE…]`.
 */
export function parseVariantLabel(text: string): Parsed<VariantLabel> {
  const [, architecture, variant, key, values] = /^([a-z0-9]+)\/(v\d+)=([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (architecture === undefined || variant === undefined || key === undefined) {
    return unparsable(`Cannot read variant label "${text}": it is not ARCH/vN=KEY[=VALUE[|VALUE…]].`);
  }
  return asParsed({ architecture, variant, key, values: values?.split("|") ?? [] });
}
