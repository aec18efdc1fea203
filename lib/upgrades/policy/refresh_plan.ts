// What becomes of the UpgradeConfig when a policy source was read. Pure.
//
//   the source        there is none    there is one
//   none              nothing          remove
//   a spec            create           the same: nothing · another: replace, so that its history starts anew
//   not configured    nothing          nothing
//   unavailable       nothing          nothing (and an error)
import { isObject, type JsonObject, memberOf } from "../../json.ts";

/** What a policy source answers. */
export type PolicyResult =
  | { readonly kind: "none" }
  | { readonly kind: "desired"; readonly spec: JsonObject }
  | { readonly kind: "notConfigured" };

/** What to do. */
export type RefreshPlan =
  | { readonly kind: "nothing" }
  | { readonly kind: "remove" }
  | { readonly kind: "create"; readonly spec: JsonObject }
  | { readonly kind: "replace"; readonly spec: JsonObject };

/** `current`: the spec of the UpgradeConfig as it was read; undefined when there is none. */
export function planRefresh(current: JsonObject | undefined, result: PolicyResult): RefreshPlan {
  switch (result.kind) {
    case "notConfigured":
      return { kind: "nothing" };
    case "none":
      return current === undefined ? { kind: "nothing" } : { kind: "remove" };
    case "desired":
      if (current === undefined) return { kind: "create", spec: result.spec };
      if (says(current, result.spec)) return { kind: "nothing" };
      // What people set beside the policy (`suspend`, `drain`…) stays.
      return { kind: "replace", spec: { ...current, ...result.spec } };
  }
}

/** Whether the object has everything that the policy states; members of the spec that only users set do not count. */
function says(current: JsonObject, spec: JsonObject): boolean {
  return Object.keys(spec).every((member) => isSame(memberOf(current, member), spec[member]));
}

/** Deep equality of JSON; a member that is empty is as good as none. */
function isSame(left: unknown, right: unknown): boolean {
  if (isObject(left) && isObject(right)) {
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) =>
      isSame(memberOf(left, key) ?? "", memberOf(right, key) ?? "")
    );
  }
  return left === right;
}
