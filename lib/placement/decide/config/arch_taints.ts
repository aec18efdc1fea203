// Parses the taints that separate a cluster's architectures, from flags and settings.
import { NODE_ARCH_LABEL } from "../../../names.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import type { ArchTaint } from "../../../vocabulary/taint.ts";

/** The key of the taints that clouds set themselves: the same as the architecture label's. */
const CLOUD_KEY = NODE_ARCH_LABEL;

const TAINT_PRESETS: Readonly<Record<string, ArchTaint>> = {
  gke: { key: CLOUD_KEY, effect: "NoSchedule" },
  ack: { key: CLOUD_KEY, effect: "NoSchedule" },
  archaware: { key: "supported-arch", effect: "NoSchedule" },
};

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"] as const;

/** Parses one value of the setting `tolerateArchTaints`: a preset, or `KEY=arch` with an optional `:EFFECT`. */
export function parseArchTaint(text: string): Parsed<ArchTaint> {
  const preset = Object.hasOwn(TAINT_PRESETS, text) ? TAINT_PRESETS[text] : undefined;
  if (preset !== undefined) return asParsed(preset);
  const [, key, name] = /^([^=]+)=arch(?::(\w+))?$/.exec(text) ?? [];
  const effect = EFFECTS.find((known) => known === (name ?? "NoSchedule"));
  if (key === undefined || !KEY.test(key) || effect === undefined) {
    const presets = Object.keys(TAINT_PRESETS).join(", ");
    return unparsable(`Cannot read arch taint "${text}": it is neither ${presets} nor KEY=arch[:EFFECT].`);
  }
  return asParsed({ key, effect });
}

/** The taint of `--arch-taints=manage`. */
interface ManagedTaint {
  readonly taint: ArchTaint;
  /** `cloud`: set by the cloud (GKE, ACK), never by Archway. Pods tolerate it. */
  readonly owner: "archway" | "cloud";
}

export function parseManagedTaint(text: string): Parsed<ManagedTaint> {
  const parsed = parseArchTaint(text);
  if (parsed.kind === "unparsable") return parsed;
  return asParsed({ taint: parsed.value, owner: parsed.value.key === CLOUD_KEY ? "cloud" : "archway" });
}
