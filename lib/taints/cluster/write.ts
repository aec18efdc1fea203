// The two writes of this mode: taints of a node, tolerations of a pod. Each is one JSON Patch whose `test` operations pin what
// was read. Tolerations can be tried without storing anything.
import type { KubeApi } from "../../k8s/api.ts";
import { classifyWriteFailure } from "../../k8s/errors.ts";
import type { JsonPatch } from "../../k8s/patch.ts";
import { Resource, splitKey } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import { toleratePatch } from "../decide/tolerations.ts";
import { choosePods, isDenial, judgeTrial, type Trial } from "../decide/trial.ts";
import type { PodNeed } from "../decide/types.ts";
import type { Clock } from "../../clock.ts";
import { openPace } from "../../k8s/write_pace.ts";

export type WriteOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "gone" }
  | { readonly kind: "stale" }
  | { readonly kind: "failed"; readonly why: string };

export interface Writing {
  readonly api: Pick<KubeApi, "patch">;
  readonly signal: AbortSignal;
}

export function patchNode(
  { api, signal }: Writing,
  { name, operations }: { readonly name: string; readonly operations: JsonPatch },
): Promise<WriteOutcome> {
  return outcomeOf(api.patch(Resource.nodes, { name }, { body: { kind: "json", operations }, signal }), signal);
}

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

interface TryDeps {
  readonly api: Pick<KubeApi, "patch">;
  readonly clock: Clock;
}

const TRIES_A_SECOND = 20;
/** No pod is tried any more after this (ms): a webhook may take 30 s for each. */
const MAX_MS = 60_000;

export async function tryTolerations(
  { api, clock }: TryDeps,
  needs: readonly PodNeed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Trial>> {
  const trials = new Map<string, Trial>();
  const pace = openPace(clock, TRIES_A_SECOND);
  const endMs = clock.monotonicMs() + MAX_MS;
  for (const need of choosePods(needs)) {
    if (clock.monotonicMs() >= endMs) break;
    await pace.turn(signal);
    signal.throwIfAborted();
    trials.set(need.pod.key, await tryOne(api, need, signal));
  }
  return trials;
}

async function tryOne(api: TryDeps["api"], need: PodNeed, signal: AbortSignal): Promise<Trial> {
  const body = { kind: "json", operations: toleratePatch(need) } as const;
  try {
    await api.patch(Resource.pods, splitKey(need.pod.key), { body, signal, isDryRun: true });
    return { kind: "accepted" };
  } catch (error) {
    signal.throwIfAborted();
    return judgeTrial(error, errorText(error));
  }
}
