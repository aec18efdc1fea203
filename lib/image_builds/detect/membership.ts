// Which pool a node is in: the control plane's before any other, a custom one before that of workers, as the machine config
// operator decides it.
import { entryOf } from "../../json.ts";
import type { LabelSelector, MachineConfigPool } from "../observed.ts";

/** The pool of nodes with these labels; undefined when none selects them, or more than one custom pool does. */
export function poolOf(
  labels: Readonly<Record<string, string>>,
  pools: readonly MachineConfigPool[],
): string | undefined {
  const selecting = pools.filter(({ nodeSelector }) => nodeSelector !== undefined && selects(nodeSelector, labels))
    .map(({ meta }) => meta.name);
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

/** Whether a selector matches; an empty one matches nothing here: a pool without a selector has no nodes. */
export function selects(
  { matchLabels, matchExpressions }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const entries = Object.entries(matchLabels);
  if (entries.length + matchExpressions.length === 0) return false;
  return entries.every(([key, value]) => entryOf(labels, key) === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      const value = entryOf(labels, key);
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        case "DoesNotExist":
          return value === undefined;
      }
    });
}
