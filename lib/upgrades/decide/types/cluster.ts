// What is observed of the cluster, reduced to what decisions about upgrades depend on. Times are milliseconds since the epoch,
// texts that may be absent are empty.
import type { Condition } from "../../../cluster/condition.ts";

export interface OfferedRelease {
  readonly version: string;
  readonly image: string;
}

/** An entry of the ClusterVersion's history, newest first. */
export interface ReleaseHistory {
  readonly version: string;
  readonly image: string;
  readonly state: "Completed" | "Partial";
  readonly startedMs: number | undefined;
  readonly completedMs: number | undefined;
}

export interface ClusterVersion {
  readonly resourceVersion: string;
  readonly clusterId: string;
  readonly channel: string;
  /** `spec.upstream`; empty: the default update graph. */
  readonly upstream: string;
  /** `spec.desiredUpdate`; undefined when nothing was requested. */
  readonly desiredUpdate:
    | { readonly version: string; readonly image: string; readonly architecture: string }
    | undefined;
  /** `status.desired`. `architecture` is `Multi` or empty. */
  readonly desired: { readonly version: string; readonly image: string; readonly architecture: string };
  readonly availableUpdates: readonly OfferedRelease[];
  readonly conditionalUpdates: readonly OfferedRelease[];
  readonly history: readonly ReleaseHistory[];
  readonly conditions: readonly Condition[];
}

export interface ClusterOperator {
  readonly name: string;
  readonly isDegraded: boolean;
  readonly isAvailable: boolean;
  /** The entry `operator-image` of `status.versions`; empty when it is not published. */
  readonly operatorImage: string;
}

/** A node that is not Ready, and what its condition says about it; empty where that is nothing. */
export interface LostNode {
  readonly name: string;
  readonly message: string;
}

/** The operating system image of a pool, held against that from before a migration; `unread`: one of them is still to be read. */
export type OsImage = "unread" | "asBefore" | "changed";

/** What is worth knowing after a migration. */
export type Advisories =
  | { readonly kind: "looking" }
  | { readonly kind: "found"; readonly sentences: readonly string[] };

export interface Silence {
  readonly id: string;
  readonly createdBy: string;
  readonly comment: string;
  readonly state: "active" | "pending" | "expired";
  /** When it ends, or ended, in milliseconds since 1970. */
  readonly endsAtMs: number;
}

export interface Payload {
  readonly image: string;
  /** `io.openshift.release` of the image for the control plane's architecture. */
  readonly version: string;
  readonly isIndex: boolean;
  readonly architectures: readonly string[];
}

/** A service that must answer before an upgrade begins. */
export type Dependency =
  | { readonly kind: "available"; readonly url: string }
  | { readonly kind: "unavailable"; readonly url: string; readonly why: string };

export type CapacityState =
  /** No MachineSet of workers, and no pattern that matches another. */
  | { readonly kind: "impossible" }
  /** Clones are missing; `reserveCapacity` makes them. */
  | { readonly kind: "missing"; readonly machineSets: readonly string[] }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "timedOut"; readonly message: string }
  | { readonly kind: "ready"; readonly machines: number };

export type CapacityLeft =
  | { readonly kind: "none" }
  /** `releaseCapacity` deletes the MachineSets, or goes on with the drain of their nodes. */
  | { readonly kind: "present"; readonly message: string }
  /** A node of a temporary worker is not drained in time. */
  | { readonly kind: "drainTimedOut"; readonly node: string; readonly message: string };

/** How far the machine is that proves a migration. */
export type SmokeState =
  | { readonly kind: "absent" }
  | { readonly kind: "waiting"; readonly sinceMs: number; readonly message: string }
  | { readonly kind: "ready"; readonly node: string; readonly architecture: string };

/** What the policy source says at the last moment. */
export type PolicyRefresh =
  | { readonly kind: "unchanged" }
  /** The plan was replaced or deleted: the object read before is no longer what is wanted. */
  | { readonly kind: "changed" }
  | { readonly kind: "notConfigured" };
