// The taint that Archway itself puts on nodes, from the configuration.
import type { Config } from "../lib/config/parse.ts";
import { parseManagedTaint } from "../lib/placement/config/arch_taints.ts";
import type { TaintRule } from "../lib/taints/types.ts";

/** The rule; undefined when taints are not managed, or are the cloud's. */
export function ownTaintRule(
  { archTaints, archTaint }: Pick<Config, "archTaints" | "archTaint">,
): TaintRule | undefined {
  const managed = archTaints === "manage" ? parseManagedTaint(archTaint) : undefined;
  if (managed?.kind !== "parsed" || managed.value.owner === "cloud") return undefined;
  const { key, effect } = managed.value.taint;
  return { key, effect };
}
