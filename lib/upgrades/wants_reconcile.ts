// Which events of UpgradeConfigs are worth a reconcile.
import { isDeepStrictEqual } from "node:util";
import { memberOf } from "../json.ts";

/** An update, as a watch shows it. */
export interface PlanUpdate {
  readonly before: unknown;
  readonly after: unknown;
}

/** Whether an update needs a reconcile: one that changes the status is a reconcile's own. */
export function wantsReconcile({ before, after }: PlanUpdate): boolean {
  if (before === undefined || after === undefined) return false;
  return isDeepStrictEqual(memberOf(before, "status"), memberOf(after, "status"));
}
