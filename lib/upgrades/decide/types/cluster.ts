// What is observed of the cluster. Times are milliseconds since the epoch, texts that may be absent are empty.
import * as z from "zod";
import { findCondition, isTrue, parseConditions } from "../../../vocabulary/condition.ts";
import { parseTime } from "../../../vocabulary/time.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { type Known, listOf, section, text } from "../../../vocabulary/schema.ts";

const conditions = z.unknown().transform((conditions) => parseConditions({ conditions })).prefault([]);

const OFFER = { version: text, image: text };
const RELEASE = { ...OFFER, architecture: text };

const ENTRY = {
  ...OFFER,
  state: z.enum(["Completed", "Partial"]).catch("Partial"),
  startedTime: z.unknown().optional().transform(parseTime),
  completionTime: z.unknown().optional().transform(parseTime),
};

const ClusterVersionSchema = z.object({
  metadata: section(z.object({ resourceVersion: text })),
  spec: section(z.object({
    clusterID: text,
    channel: text,
    /** Empty: the default update graph. */
    upstream: text,
    desiredUpdate: z.object(RELEASE).optional().catch(undefined),
  })),
  status: section(z.object({
    /** `architecture` is `Multi` or empty. */
    desired: section(z.object(RELEASE)),
    availableUpdates: listOf(OFFER),
    conditionalUpdates: listOf({ release: section(z.object(OFFER)) }),
    history: listOf(ENTRY),
    conditions,
  })),
}).transform(({ metadata, spec: { clusterID: clusterId, ...spec }, status }) => ({
  ...metadata,
  ...spec,
  ...status,
  clusterId,
  conditionalUpdates: status.conditionalUpdates.map(({ release }) => release),
  history: status.history.map(({ startedTime: startedMs, completionTime: completedMs, ...entry }) => {
    return { ...entry, startedMs, completedMs };
  }),
}));

const ClusterOperatorSchema = z.object({
  metadata: z.object({ name: z.string() }),
  status: section(z.object({ conditions, versions: listOf({ name: text, version: text }) })),
}).transform(({ metadata: { name }, status: { conditions, versions } }) => ({
  name,
  isDegraded: isTrue(conditions, "Degraded"),
  isAvailable: findCondition(conditions, "Available")?.status !== "False",
  /** Empty when it is not published. */
  operatorImage: versions.find((version) => version.name === "operator-image")?.version ?? "",
}));

export type OfferedRelease = Known<typeof OFFER>;
export type ClusterVersion = Readonly<z.output<typeof ClusterVersionSchema>>;
export type ClusterOperator = Readonly<z.output<typeof ClusterOperatorSchema>>;

export function parseClusterVersion(object: KubeObject): ClusterVersion {
  return ClusterVersionSchema.parse(object);
}

export function parseClusterOperator(object: KubeObject): ClusterOperator {
  return ClusterOperatorSchema.parse(object);
}

/** A node that is not Ready, with the message of its condition, which may be empty. */
export interface NotReadyNode {
  readonly name: string;
  readonly message: string;
}

/** A pool's operating system image compared with the one before a migration. `overridden`: a user sets it. */
export type OsImageState = "unread" | "asBefore" | "changed" | "overridden";

export type Advisories =
  | { readonly kind: "looking" }
  | { readonly kind: "found"; readonly sentences: readonly string[] };

/** A silence as Alertmanager lists it. */
export const Silence = z.object({
  id: z.string(),
  createdBy: z.string(),
  comment: z.string(),
  endsAt: z.string().transform((text) => parseTime(text) ?? 0),
  status: z.object({ state: z.enum(["active", "pending", "expired"]) }),
}).transform(({ endsAt: endsAtMs, status: { state }, ...silence }) => ({ ...silence, state, endsAtMs }));
export type Silence = Readonly<z.output<typeof Silence>>;

export interface Payload {
  readonly image: string;
  /** `io.openshift.release` of the image for the control plane's architecture. */
  readonly version: string;
  readonly isIndex: boolean;
  readonly architectures: readonly string[];
}

export type CapacityState =
  /** There is no MachineSet of workers, and no extra pools are configured. */
  | { readonly kind: "impossible" }
  /** Clones are missing; the effect `reserveCapacity` creates them. */
  | { readonly kind: "missing"; readonly machineSets: readonly string[] }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "timedOut"; readonly message: string }
  | { readonly kind: "ready" };

export type CapacityLeft =
  | { readonly kind: "none" }
  | { readonly kind: "present"; readonly message: string }
  /** A temporary worker was not drained in time. */
  | { readonly kind: "drainTimedOut"; readonly node: string; readonly message: string };

export type SmokeState =
  | { readonly kind: "absent" }
  | { readonly kind: "waiting"; readonly sinceMs: number; readonly message: string }
  | { readonly kind: "ready"; readonly node: string; readonly architecture: string };

export type PolicyRefresh =
  | { readonly kind: "unchanged" }
  /** The plan was replaced or deleted, so that the object that was read no longer counts. */
  | { readonly kind: "changed" }
  | { readonly kind: "notConfigured" };
