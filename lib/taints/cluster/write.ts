// The two writes of this mode: taints of a node, tolerations of a pod. Each is one JSON Patch whose `test` operations pin what
// was read.
import type { KubeApi } from "../../k8s/api.ts";
import { classifyWriteFailure } from "../../k8s/errors.ts";
import type { JsonPatch } from "../../k8s/patch.ts";
import { Resource, splitKey } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import { toleratePatch } from "../decide/tolerations.ts";
import { isDenial } from "../decide/trial.ts";
import type { PodNeed } from "../decide/types.ts";

export type WriteOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "gone" }
  | { readonly kind: "stale" }
  | { readonly kind: "failed"; readonly why: string };

export interface Writing {
  readonly api: Pick<KubeApi, "patch">;
  readonly signal: AbortSignal;
}

/** Patches a node. Throws only when the signal aborts. */
export function patchNode(
  { api, signal }: Writing,
  { name, operations }: { readonly name: string; readonly operations: JsonPatch },
): Promise<WriteOutcome> {
  return outcomeOf(api.patch(Resource.nodes, { name }, { body: { kind: "json", operations }, signal }), signal);
}

/** Gives a pod the tolerations that it lacks. Throws only when the signal aborts. */
export function tolerate({ api, signal }: Writing, need: PodNeed): Promise<WriteOutcome> {
  const body = { kind: "json", operations: toleratePatch(need) } as const;
  return outcomeOf(api.patch(Resource.pods, splitKey(need.pod.key), { body, signal }), signal);
}

async function outcomeOf(write: Promise<unknown>, signal: AbortSignal): Promise<WriteOutcome> {
  try {
    await write;
    return { kind: "written" };
  } catch (error) {
    signal.throwIfAborted();
    const why = errorText(error);
    const failure = classifyWriteFailure(error);
    if (!isDenial(why) && (failure === "gone" || failure === "stale")) return { kind: failure };
    return { kind: "failed", why };
  }
}
