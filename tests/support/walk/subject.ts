// What a walk needs of a cluster with Archway in front of it, whichever cluster that is.
import type { KubeObject } from "../../../lib/k8s/types.ts";
import type { JsonObject } from "../../../lib/playground/json_value.ts";
import type { WalkRegistries } from "./registries.ts";

/** A cluster, its registries and Archway. */
export interface WalkSubject extends Omit<WalkRegistries, typeof Symbol.asyncDispose> {
  /** Creates an object as a client of the API server does. */
  create(kind: string, body: JsonObject, namespace?: string): Promise<unknown>;
  /** Deletes one. */
  remove(kind: string, name: string, namespace?: string): Promise<unknown>;
  /** Names of the objects of a cluster-wide kind. */
  names(kind: string): Promise<readonly string[]>;
  /** The pod, or undefined while it is gated. */
  decided(namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Resolves when the condition holds; rejects when it does not for long. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Fails unless the pod runs where its images can; absent where nothing schedules as a real cluster does. */
  readonly assertRuns?: ((namespace: string, name: string) => Promise<void>) | undefined;
}

/** What to lay out before the pods come. */
export interface WalkSetting {
  /** Spec of the ClusterPodPlacementConfig. */
  readonly spec: JsonObject;
  /** Namespaces, with their labels. */
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
