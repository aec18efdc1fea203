// The architectures that nodes, Karpenter NodePools and OpenShift MachineSets offer. Pure.
import { intersectArchitectures, isUsableArchitecture, KNOWN_ARCHITECTURES } from "../../arch.ts";
import { NODE_ARCH_LABEL } from "../../names.ts";
import { parseMachineSet } from "../../vocabulary/machines.ts";
import { parseNode } from "../../vocabulary/node.ts";
import { entryOf, listAt, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

export function offeredByNode(node: KubeObject): readonly string[] {
  return usable([parseNode(node).architecture]);
}

/** The architectures that a NodePool's requirements on the arch label allow. */
export function offeredByNodePool(pool: unknown): readonly string[] {
  const template = objectAt(objectAt(pool, "spec"), "template");
  const requirements = (listAt(objectAt(template, "spec"), "requirements") ?? [])
    .filter((requirement) => textAt(requirement, "key") === NODE_ARCH_LABEL);
  const valuesOf = (operator: string): readonly (readonly string[])[] =>
    requirements.filter((requirement) => textAt(requirement, "operator") === operator)
      .map((requirement) => (listAt(requirement, "values") ?? []).filter((value) => typeof value === "string"));
  const wanted = valuesOf("In");
  const offered = wanted.length === 0 ? KNOWN_ARCHITECTURES : intersectArchitectures(wanted);
  const excluded = new Set(valuesOf("NotIn").flat());
  return usable(offered).filter((name) => !excluded.has(name));
}

/** A MachineSet's architectures, from its scale-from-zero annotation and its node labels. */
export function offeredByMachineSet(set: KubeObject): readonly string[] {
  const { announced, nodeLabels } = parseMachineSet(set);
  return usable([announced, nodeLabels].map((labels) => entryOf(labels, NODE_ARCH_LABEL) ?? ""));
}

function usable(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter(isUsableArchitecture);
}
