// The configs that concern a pod, and the settings of this installation.
import type { ArchTaint } from "../../../vocabulary/taint.ts";
import type { ClusterConfig, NamespaceConfig } from "./config.ts";

/** The configs that may apply to a pod. Without a cluster config, scoring is off and there is no fallback. */
export interface PlacementConfigs {
  readonly cluster: ClusterConfig | undefined;
  /** All configs of the pod's namespace, in any order, matching or not. */
  readonly namespace: readonly NamespaceConfig[];
}

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
