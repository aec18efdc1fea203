// Which nodes of a pool the published image does not run on.
import type { MachineConfigPool } from "../../../cluster/machines.ts";
import { membersOf } from "../detect/detect.ts";
import type { BuildNode } from "../observed.ts";

export interface UncoveredNode {
  readonly node: string;
  readonly arch: string;
}

/** Finds them. `covered`: the architectures of what is published. Nodes that say nothing yet are left out. */
export function uncoveredNodes(
  { pool, pools, nodes, covered }: {
    readonly pool: string;
    readonly pools: readonly MachineConfigPool[];
    readonly nodes: readonly BuildNode[];
    readonly covered: readonly string[];
  },
): readonly UncoveredNode[] {
  return membersOf(pool, { nodes, pools })
    .filter(({ reported }) => reported !== "" && !covered.some((arch) => arch === reported))
    .map(({ name, reported }) => ({ node: name, arch: reported }))
    .toSorted((left, right) => left.node < right.node ? -1 : 1);
}

const NAMED = 10;

export function uncoveredMessage(nodes: readonly UncoveredNode[]): string {
  const named = nodes.slice(0, NAMED).map(({ node, arch }) => `${node} (${arch})`).join(", ");
  const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
  return `The published image does not run on ${named}${more}. Keep these nodes from taking it: pause the pool, or take ` +
    "them out of it, until an image for their architecture is published.";
}
