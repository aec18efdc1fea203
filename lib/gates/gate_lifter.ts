// Takes Archway's gate off one pod, and can do nothing else: what it sends is made by one pure function from the pod that was
// read, and the gate is pinned by a `test`, so that of several replicas one succeeds.
import type { KubeApi, ReadApi } from "../k8s/api.ts";
import { classifyWriteFailure, isForbidden } from "../k8s/errors.ts";
import { readOptional } from "../k8s/read_optional.ts";
import { Resource } from "../k8s/types.ts";
import { errorText } from "../log.ts";
import { isGated } from "../placement/patch/constraints.ts";
import { gatePatch } from "../placement/patch/escalation.ts";
import { parsePod } from "../placement/pod_view.ts";
import { GateLabel } from "../names.ts";
import type { PodView } from "../placement/types.ts";
import type { Pace } from "../tainting/pace.ts";

/** What it works with. */
export interface GateLifterDeps {
  readonly api: ReadApi & Pick<KubeApi, "patch">;
  readonly pace: Pace;
}

/** Which pod. */
export interface HeldPodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What became of the gate. */
export type GateLift =
  | { readonly kind: "lifted" }
  /** The pod is gone, or has no gate of ours any more. */
  | { readonly kind: "gone" }
  /** It was no longer to be lifted. Nothing was written. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly why: string };

/** How to lift. */
export interface LiftOptions {
  readonly signal: AbortSignal;
  /** Called directly before each write. */
  readonly goesOn: () => boolean;
}

/** A client that can only take the gate off. */
export interface GateLifter {
  /** Never rejects, but when the signal aborts. */
  lift(pod: HeldPodRef, options: LiftOptions): Promise<GateLift>;
}

/** Reads of a pod that others change at the same time. */
const TRIES = 3;

/** With the label that says so; without, where something refuses the change of labels. */
const LABELS: readonly (string | undefined)[] = [GateLabel.removed, undefined];

/** Makes it. */
export function openGateLifter(deps: GateLifterDeps): GateLifter {
  return {
    lift: async (pod, options) => {
      try {
        return await lift(deps, pod, options);
      } catch (error) {
        options.signal.throwIfAborted();
        return { kind: "failed", why: errorText(error) };
      }
    },
  };
}

async function lift(
  { api, pace }: GateLifterDeps,
  ref: HeldPodRef,
  { signal, goesOn }: LiftOptions,
): Promise<GateLift> {
  const { namespace, name } = ref;
  const labels = [...LABELS];
  for (let tries = 1;;) {
    await pace.turn(signal);
    const pod = await readHeld(api, ref, signal);
    if (pod === undefined) return { kind: "gone" };
    if (!goesOn()) return { kind: "stopped" };
    try {
      const operations = gatePatch(pod, labels[0]);
      await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
      return { kind: "lifted" };
    } catch (error) {
      const failure = classifyWriteFailure(error);
      if (failure === "gone") return { kind: "gone" };
      const isRefused = failure === "refused" || isForbidden(error);
      if (isRefused ? labels.length === 1 : failure !== "stale" || tries++ === TRIES) throw error;
      if (isRefused) labels.shift();
    }
  }
}

async function readHeld(
  api: ReadApi,
  { uid, ...target }: HeldPodRef,
  signal: AbortSignal,
): Promise<PodView | undefined> {
  const object = await readOptional(api, { type: Resource.pods, ...target, signal });
  const pod = object === undefined ? undefined : parsePod(object);
  return pod !== undefined && pod.uid === uid && isGated(pod) && !pod.deleting ? pod : undefined;
}
