// Tries on the API server, without storing anything, whether pods can be given the tolerations that they lack.
import type { Clock } from "../../clock.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { Resource, splitKey } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import { toleratePatch } from "../decide/tolerations.ts";
import { choosePods, judgeTrial, type Trial } from "../decide/trial.ts";
import type { PodNeed } from "../decide/types.ts";
import { openPace } from "../../k8s/write_pace.ts";

export interface TryDeps {
  readonly api: Pick<KubeApi, "patch">;
  readonly clock: Clock;
}

const TRIES_A_SECOND = 20;
/** No pod is tried any more after this (ms): a webhook may take 30 s for each. */
const MAX_MS = 60_000;

/** What is known of the pods that were tried, by key. Throws only when the signal aborts. */
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
