// Which pool a node is in: the control plane's before any other, a custom one before that of workers, as the machine config
// operator decides it.
import { type Labels, matchesSelector } from "../../k8s/label_selector.ts";
import type { MachineConfigPool } from "../observed.ts";

/** The pool of nodes with these labels; undefined when none selects them, or more than one custom pool does. */
export function poolOf(
  labels: Labels,
  pools: readonly MachineConfigPool[],
): string | undefined {
  const selecting = pools.filter((pool) => selects(pool, labels)).map(({ meta }) => meta.name);
  const custom = selecting.filter((name) => !OWN_POOLS.includes(name));
  if (selecting.includes(CONTROL_PLANE_POOL)) return CONTROL_PLANE_POOL;
  if (selecting.includes(ARBITER_POOL)) return ARBITER_POOL;
  if (custom.length > 1) return undefined;
  return custom[0] ?? (selecting.includes(WORKER_POOL) ? WORKER_POOL : undefined);
}

/** Pools that every cluster has. */
export const CONTROL_PLANE_POOL = "master";
/** The pool that nodes are in without another one. */
export const WORKER_POOL = "worker";
const ARBITER_POOL = "arbiter";
const OWN_POOLS: readonly string[] = [CONTROL_PLANE_POOL, ARBITER_POOL, WORKER_POOL];

/** Whether a pool has the nodes with these labels; one whose selector is absent or empty has no nodes. */
function selects({ nodeSelector }: MachineConfigPool, labels: Labels): boolean {
  return nodeSelector.kind === "requirements" && matchesSelector(nodeSelector, labels);
}
