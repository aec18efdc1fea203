// The two custom resources as parsed, and the settings of this installation.
import type { LabelSelector } from "../../../vocabulary/label_selector.ts";
import type { ArchTaint } from "../../../vocabulary/taint.ts";

/** The nodeAffinityScoring plugin of either config; absent plugin = disabled without platforms. */
export interface NodeAffinityScoring {
  readonly enabled: boolean;
  readonly platforms: readonly { readonly architecture: string; readonly weight: number }[];
}

export interface ClusterConfig {
  readonly uid: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  /** Epoch ms: the creation, or the last change by a manager that sets the namespace selector; 0 when unknown. */
  readonly selectedSinceMs: number;
  readonly logVerbosity: string;
  /** Parsed; `everything` when absent. */
  readonly namespaceSelector: LabelSelector;
  readonly fallbackArchitecture: string | undefined;
  readonly scoring: NodeAffinityScoring;
  readonly monitorsExecFormat: boolean;
}

export interface NamespaceConfig {
  readonly namespace: string;
  readonly name: string;
  readonly createdMs: number;
  readonly priority: number;
  readonly labelSelector: LabelSelector;
  /** Not a field of the MTO; wins over the cluster's. */
  readonly fallbackArchitecture: string | undefined;
  readonly scoring: NodeAffinityScoring;
}

/** The configs that may concern a pod. A missing cluster config means: scoring off, no fallback. */
export interface PlacementConfigs {
  readonly cluster: ClusterConfig | undefined;
  /** All of the pod's namespace, in any order, matching or not. */
  readonly namespace: readonly NamespaceConfig[];
}

/** The node label that stands for an instruction set level: `amd64/v3` → `example.com/level In [v3, v4]`. */
export interface VariantLabel {
  readonly architecture: string;
  readonly variant: string;
  readonly key: string;
  /** Empty: the label must merely exist. */
  readonly values: readonly string[];
}

/** What a RuntimeClass changes: `skip` ignores its pods; `add` names architectures it can run besides (emulation). */
export type RuntimeClassRule =
  | { readonly kind: "skip" }
  | { readonly kind: "add"; readonly architectures: readonly string[] };

/** Which image volumes count: `auto` indexes alone, `require` all that are images, `ignore` none. */
export type ImageVolumes = "auto" | "require" | "ignore";

export interface PlacementSettings {
  readonly operatorNamespace: string;
  readonly maxGateAgeMs: number;
  readonly warmAdmission: boolean;
  /** Namespaces that are left alone: names, or prefixes that end with `*`. */
  readonly systemNamespaces: readonly string[];
  /** Taints to tolerate for the architectures decided; empty = off. */
  readonly archTaints: readonly ArchTaint[];
  /** The ones that Archway itself puts on nodes. Pods about which nothing is decided tolerate them, too. */
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
