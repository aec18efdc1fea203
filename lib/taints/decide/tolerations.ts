// Whether a pod tolerates a taint, by the rules of the scheduler, and the patch for the tolerations that it lacks.
import { type AddedToleration, type ArchTaint, tolerates, type Toleration } from "../../vocabulary/taint.ts";
import type { PodNeed, TaintPod } from "./types.ts";
import { isKnownArchitecture, KNOWN_ARCHITECTURES } from "../../arch.ts";
import { assertNever } from "../../parsed.ts";
import type { V1Toleration } from "@kubernetes/client-node";
import type { JsonPatch } from "../../k8s/patch.ts";
import type { Wire } from "../../k8s/types.ts";

/** Whether a toleration covers an architecture's taint for good, and does not merely delay an eviction. */
export function covers(toleration: Toleration, { rule, architecture }: NodeTaint): boolean {
  if (toleration.isTemporary && rule.effect === "NoExecute") return false;
  return tolerates(toleration, { ...rule, value: architecture });
}

interface NodeTaint {
  readonly rule: ArchTaint;
  readonly architecture: string;
}

function isCovered(tolerations: readonly Toleration[] | undefined, taint: NodeTaint): boolean {
  return (tolerations ?? []).some((toleration) => covers(toleration, taint));
}

interface TolerationContext {
  readonly rule: ArchTaint;
  readonly architectureOf: (node: string) => string | undefined;
  readonly architectures: readonly string[];
}

/** Undefined when the pod lacks no toleration, or is undecided and its owner chose which architectures it tolerates. */
export function needOf(pod: TaintPod, { rule, architectureOf, architectures }: TolerationContext): PodNeed | undefined {
  const missingOf = (wanted: readonly string[]): readonly AddedToleration[] =>
    wanted.filter((architecture) => !isCovered(pod.tolerations, { rule, architecture }))
      .map((value) => ({ key: rule.key, operator: "Equal", value, effect: rule.effect }));
  const missing = missingOf(wantedBy(pod, { rule, architectureOf, architectures }));
  return missing.length === 0 ? undefined : { pod, missing };
}

function wantedBy(pod: TaintPod, { rule, architectureOf, architectures }: TolerationContext): readonly string[] {
  switch (pod.runsOn.kind) {
    case "node": {
      const architecture = architectureOf(pod.runsOn.node);
      return architecture === undefined ? [] : [architecture];
    }
    case "decided":
      // Other names do not count: the pod's owner can write hundreds into the decision, and change them every second.
      return pod.runsOn.architectures.filter((name) => isKnownArchitecture(name) || architectures.includes(name));
    case "any": {
      const all = [...new Set([...KNOWN_ARCHITECTURES, ...architectures])].sort();
      const covered = new Set(all.filter((architecture) => isCovered(pod.tolerations, { rule, architecture })));
      const isChosen = covered.size > 0 && !KNOWN_ARCHITECTURES.every((architecture) => covered.has(architecture));
      return isChosen ? [] : all;
    }
    default:
      return assertNever(pod.runsOn);
  }
}

/** Tolerations may be added to bound pods too. A patch that adds the whole list tests the version that was read. */
export function toleratePatch({ pod, missing }: PodNeed): JsonPatch {
  const added: readonly Wire<V1Toleration>[] = missing;
  const identity: JsonPatch = pod.uid === "" ? [] : [{ op: "test", path: "/metadata/uid", value: pod.uid }];
  if (pod.tolerations === undefined) {
    return [
      ...identity,
      { op: "test", path: "/metadata/resourceVersion", value: pod.resourceVersion },
      { op: "add", path: "/spec/tolerations", value: added },
    ];
  }
  return [...identity, ...added.map((value) => ({ op: "add", path: "/spec/tolerations/-", value } as const))];
}
