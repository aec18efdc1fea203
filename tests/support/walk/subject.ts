// What a walk needs of a cluster with Archway in front of it, whichever cluster that is.
import type { KubeObject } from "../../../lib/k8s/types.ts";
import type { JsonObject } from "../../../playground/json_path.ts";
import type { WalkRegistries } from "./registries.ts";

export interface Fate {
  readonly kind: "runs" | "pull fails";
  /** Architectures of the nodes that it may be on. */
  readonly on: readonly string[];
}

export interface WalkSubject extends Omit<WalkRegistries, typeof Symbol.asyncDispose> {
  readonly node: string;
  /** Creates an object as a client of the API server does. */
  create(kind: string, body: JsonObject, namespace?: string): Promise<unknown>;
  remove(kind: string, name: string, namespace?: string): Promise<unknown>;
  /** Names of the objects of a cluster-wide kind. */
  names(kind: string): Promise<readonly string[]>;
  /** The pod, or undefined while it is gated. */
  decided(namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Resolves when the condition holds; rejects when it does not for long. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Fails unless the pod comes to this; absent where nothing schedules as a real cluster does. */
  readonly assertFate?: ((pod: WalkPod, fate: Fate) => Promise<void>) | undefined;
}

export interface WalkPod {
  readonly namespace: string;
  readonly name: string;
}

export interface WalkSetting {
  readonly spec: JsonObject;
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
