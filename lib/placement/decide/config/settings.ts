// The settings of placement with their defaults, which are the behaviour of the MTO.
import type { PlacementSettings } from "./types.ts";

export const DEFAULT_SETTINGS: PlacementSettings = {
  operatorNamespace: "default",
  systemNamespaces: ["kube-*", "openshift-*", "hypershift-*"],
  maxGateAgeMs: 60_000,
  warmAdmission: true,
  archTaints: [],
  ownTaints: [],
  variantLabels: [],
  runtimeClasses: {},
  imageVolumes: "ignore",
  daemonSets: "ignore",
  audit: false,
};

/** The same settings for a namespace that is audited: nothing is changed there, only reported. */
export function auditOnly(settings: PlacementSettings): PlacementSettings {
  return { ...settings, audit: true };
}

/** Settings with some of the defaults changed. */
export function makeSettings(changes: Partial<PlacementSettings> = {}): PlacementSettings {
  return { ...DEFAULT_SETTINGS, ...changes };
}
