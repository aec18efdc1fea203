// Taints of nodes and tolerations of pods, and which taint a toleration covers.
import { listAt, memberOf, textAt } from "../json.ts";
import { parseTime } from "./time.ts";

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  /** When it was added; undefined where the taint does not say. */
  readonly addedMs?: number | undefined;
}

/** A taint by which a cluster separates nodes by architecture: `key=<arch>:effect`. */
export interface ArchTaint {
  readonly key: string;
  readonly effect: "NoSchedule" | "NoExecute" | "PreferNoSchedule";
}

export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
  /** Whether the pod is evicted after a time all the same: `tolerationSeconds` is set. */
  readonly isTemporary: boolean;
}

/** A toleration that Archway adds. */
export interface AddedToleration {
  readonly key: string;
  readonly operator: "Equal";
  readonly value: string;
  readonly effect: string;
}

export function parseTaints(spec: unknown): readonly Taint[] {
  return (listAt(spec, "taints") ?? []).map((taint) => {
    const addedMs = parseTime(memberOf(taint, "timeAdded"));
    const members = { key: textAt(taint, "key"), value: textAt(taint, "value"), effect: textAt(taint, "effect") };
    return addedMs === undefined ? members : { ...members, addedMs };
  });
}

export function parseTolerations(spec: unknown): readonly Toleration[] | undefined {
  return listAt(spec, "tolerations")?.map((toleration) => ({
    key: textAt(toleration, "key"),
    operator: textAt(toleration, "operator"),
    value: textAt(toleration, "value"),
    effect: textAt(toleration, "effect"),
    isTemporary: typeof memberOf(toleration, "tolerationSeconds") === "number",
  }));
}

/** Whether a toleration covers a taint, as `ToleratesTaint` of k8s.io/component-helpers. `Gt` and `Lt` never do. */
export function tolerates(
  { key, operator, value, effect }: Omit<Toleration, "isTemporary">,
  taint: Pick<Taint, "key" | "value" | "effect">,
): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return key !== "" && (operator === "" || operator === "Equal") && value === taint.value;
}
