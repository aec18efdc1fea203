// The writes of nodes and pods, each one JSON Patch with `test` operations; dry runs; and the removal of all taints.
import { type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { classifyWriteFailure } from "../../k8s/api_error.ts";
import type { JsonPatch } from "../../k8s/patch.ts";
import { Resource, splitKey } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import { toleratePatch } from "../decide/tolerations.ts";
import { isDenial, judgeTrial, type Trial } from "../decide/plan.ts";
import type { PodNeed, TaintNode } from "../decide/types.ts";
import type { Clock } from "../../clock.ts";
import { openRateLimiter, type RateLimiter } from "../../k8s/write_limits.ts";
import { listAll } from "../../k8s/lists.ts";
import { untaintPatch } from "../decide/judge_node.ts";
import { parseTaintNode } from "../decide/parse.ts";

export type WriteOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "gone" }
  | { readonly kind: "stale" }
  | { readonly kind: "failed"; readonly why: string };

interface TaintWriting {
  readonly api: Pick<KubeApi, "patch">;
  readonly signal: AbortSignal;
}

export function patchNode(
  { api, signal }: TaintWriting,
  { name, operations }: { readonly name: string; readonly operations: JsonPatch },
): Promise<WriteOutcome> {
  return outcomeOf(api.patch(Resource.nodes, { name }, { body: { kind: "json", operations }, signal }), signal);
}

export function addToleration({ api, signal }: TaintWriting, need: PodNeed): Promise<WriteOutcome> {
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

const MAX_TRIED = 100;
const ATTEMPTS_A_SECOND = 20;
/** Time (ms) after which no further pod is tried: a webhook may take 30 s for each. */
const MAX_TRYING_MS = 60_000;

/** Patches pods in dry runs. Pods that were not tried are missing in the result. */
export async function tryTolerations(
  { api, clock }: TryDeps,
  needs: readonly PodNeed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Trial>> {
  const trials = new Map<string, Trial>();
  const limiter = openRateLimiter(clock, ATTEMPTS_A_SECOND);
  const endMs = clock.monotonicMs() + MAX_TRYING_MS;
  for (const need of needs.slice(0, MAX_TRIED)) {
    if (clock.monotonicMs() >= endMs) break;
    await limiter.wait(signal);
    signal.throwIfAborted();
    trials.set(need.pod.key, await tryOne(api, need, signal));
  }
  return trials;
}

async function tryOne(api: TryDeps["api"], need: PodNeed, signal: AbortSignal): Promise<Trial> {
  const body = { kind: "json", operations: toleratePatch(need) } as const;
  try {
    await api.patch(Resource.pods, splitKey(need.pod.key), { body, signal, isDryRun: true });
    return { accepts: "yes", reason: "" };
  } catch (error) {
    signal.throwIfAborted();
    return judgeTrial(error, errorText(error));
  }
}

export interface LiftDeps {
  readonly api: ReadApi & Pick<KubeApi, "patch">;
  readonly key: string;
  readonly limiter: RateLimiter;
  /** Nodes that are written in parallel. Default 1. */
  readonly parallel?: number | undefined;
}

export interface Lifted {
  readonly lifted: readonly string[];
  readonly left: readonly { readonly node: string; readonly reason: string }[];
}

interface LiftOptions {
  readonly signal: AbortSignal;
  readonly dryRun?: boolean;
  readonly shouldContinue?: () => boolean;
}

/** Attempts for a node whose taints others change at the same time. */
const MAX_ATTEMPTS = 3;

/** Removes the taint from all nodes. Throws ApiError when they cannot be listed, and when the signal aborts. */
export async function liftTaints(
  deps: LiftDeps,
  { signal, dryRun = false, shouldContinue = () => true }: LiftOptions,
): Promise<Lifted> {
  const lifted: string[] = [];
  const left: { node: string; reason: string }[] = [];
  const nodes = (await listTainted(deps, signal)).values();
  const worker = async (): Promise<void> => {
    for (const node of nodes) {
      const { name } = node;
      if (!shouldContinue()) break;
      const outcome = dryRun ? { kind: "written" } as const : await untaint(deps, node, signal);
      if (outcome.kind === "written") lifted.push(name);
      else if (outcome.kind !== "gone") left.push({ node: name, reason: reasonOf(outcome) });
    }
  };
  await Promise.all(Array.from({ length: deps.parallel ?? 1 }, worker));
  return { lifted, left };
}

/** Keeps only what was parsed: a Node has some ten kilobytes, most of them its list of images. */
async function listTainted({ api, key }: LiftDeps, signal: AbortSignal): Promise<readonly TaintNode[]> {
  const found = new Map<string, TaintNode>();
  for await (const object of listAll(api, Resource.nodes, { signal })) {
    const node = parseTaintNode(object);
    if (untaintPatch(node, key).length > 0) found.set(node.name, node);
  }
  return [...found.values()];
}

async function untaint({ api, key, limiter }: LiftDeps, node: TaintNode, signal: AbortSignal): Promise<WriteOutcome> {
  const { name } = node;
  let current: TaintNode | undefined = node;
  for (let attempt = 1;; attempt++) {
    const operations = current === undefined ? [] : untaintPatch(current, key);
    if (operations.length === 0) return { kind: "gone" };
    await limiter.wait(signal);
    const outcome = await patchNode({ api, signal }, { name, operations });
    if (outcome.kind !== "stale" || attempt === MAX_ATTEMPTS) return outcome;
    const object = await readOptional(api, { type: Resource.nodes, name, signal });
    current = object === undefined ? undefined : parseTaintNode(object);
  }
}

function reasonOf(outcome: WriteOutcome): string {
  return outcome.kind === "failed" ? outcome.why : "its taints change all the time";
}
