// The settings of placement as an installation without flags has them.
import { DEFAULT_SYSTEM_NAMESPACES } from "../../lib/names.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/settings.ts";

export const DEFAULT_SETTINGS: PlacementSettings = {
  operatorNamespace: "default",
  systemNamespaces: DEFAULT_SYSTEM_NAMESPACES,
  maxGateAgeMs: 60_000,
  warmAdmission: true,
  toleratedTaints: [],
  ownTaints: [],
  variantLabels: [],
  runtimeClasses: {},
  imageVolumes: "auto",
  daemonSets: "ignore",
  audit: false,
};

export function makeSettings(changes: Partial<PlacementSettings> = {}): PlacementSettings {
  return { ...DEFAULT_SETTINGS, ...changes };
}
