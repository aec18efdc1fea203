// Takes Archway's gate off one pod, and can do nothing else: what it sends is made by one pure function from the pod that was
// read, and the gate is pinned by a `test`, so that of several replicas one succeeds.
import { type KubeApi, type ReadApi, readOptional } from "../../k8s/api.ts";
import { classifyWriteFailure, isForbidden } from "../../k8s/errors.ts";
import { Resource } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import { isGated } from "../decide/patch/constraints.ts";
import { gatePatch } from "../decide/patch/release_patch.ts";
import { parsePod } from "../decide/pod_view.ts";
import { GateLabel } from "../../names.ts";
import type { PodView } from "../decide/types.ts";
import type { Pace } from "../../k8s/write_pace.ts";

type GateApi = ReadApi & Pick<KubeApi, "patch">;

export interface HeldPodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type GateLift =
  | { readonly kind: "lifted" }
  /** The pod is gone, or has no gate of ours any more. */
  | { readonly kind: "gone" }
  /** It was no longer to be lifted. Nothing was written. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly why: string };

export interface LiftOptions {
  readonly signal: AbortSignal;
  /** Called directly before each write. */
  readonly goesOn: () => boolean;
}

/** Writes of a pod that others change at the same time. */
const TRIES = 3;

/** Takes the gate off a pod as it was read a moment ago, and reads it again when others have changed it. Never rejects. */
export async function liftGate(api: GateApi, pod: PodView, options: LiftOptions): Promise<GateLift> {
  return await orFailed(() => lift(api, pod, options));
}

async function lift(api: GateApi, pod: PodView, { signal, goesOn }: LiftOptions): Promise<GateLift> {
  const { namespace, name } = pod;
  let held: PodView | undefined = pod;
  let label: string | undefined = GateLabel.removed;
  for (let tries = 1; held !== undefined;) {
    if (!goesOn()) return { kind: "stopped" };
    try {
      const operations = gatePatch(held, label);
      await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
      return { kind: "lifted" };
    } catch (error) {
      const failure = classifyWriteFailure(error);
      const isRefused = failure === "refused" || isForbidden(error);
      if (failure === "gone") held = undefined;
      // Something refuses the change of labels: the gate alone may pass.
      else if (isRefused && label !== undefined) label = undefined;
      else if (failure === "stale" && tries++ < TRIES) held = await readHeld(api, pod, signal);
      else throw error;
    }
  }
  return { kind: "gone" };
}

async function orFailed(work: () => Promise<GateLift>): Promise<GateLift> {
  try {
    return await work();
  } catch (error) {
    return { kind: "failed", why: errorText(error) };
  }
}

/** A client that can only take the gate off. */
export interface GateLifter {
  /** Reads the pod in its turn, and takes the gate off. Never rejects. */
  lift(pod: HeldPodRef, options: LiftOptions): Promise<GateLift>;
}

export function openGateLifter({ api, pace }: { readonly api: GateApi; readonly pace: Pace }): GateLifter {
  return {
    lift: (pod, options) =>
      orFailed(async () => {
        await pace.turn(options.signal);
        const held = await readHeld(api, pod, options.signal);
        return held === undefined ? { kind: "gone" } : await lift(api, held, options);
      }),
  };
}

async function readHeld(
  api: ReadApi,
  { namespace, name, uid }: HeldPodRef,
  signal: AbortSignal,
): Promise<PodView | undefined> {
  const object = await readOptional(api, { type: Resource.pods, namespace, name, signal });
  const pod = object === undefined ? undefined : parsePod(object);
  return pod !== undefined && pod.uid === uid && isGated(pod) && !pod.deleting ? pod : undefined;
}
