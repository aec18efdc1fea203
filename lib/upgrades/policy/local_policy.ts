// The UpgradeConfig itself as the source of its policy, for clusters whose users write it by hand. Pure.
import { type JsonObject, listAt, objectAt, textAt } from "../../json.ts";
import type { PolicyResult } from "./refresh_plan.ts";

/** The spec of an object that was read and is not done; none otherwise. `object`: as read, undefined when there is none. */
export function localPolicyOf(object: JsonObject | undefined): PolicyResult {
  const [newest] = listAt(objectAt(object, "status"), "history") ?? [];
  const spec = objectAt(object, "spec");
  if (newest === undefined || spec === undefined || textAt(newest, "phase") === "Upgraded") return { kind: "none" };
  return { kind: "desired", spec };
}
