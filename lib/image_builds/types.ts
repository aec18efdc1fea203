// The words of image builds: what is planned, what is recorded of it, and what a decision asks to be done.
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../k8s/types.ts";
import type { Arch, BuildSettings, RegistryQuestion } from "./observed.ts";

/** Architectures in alphabetical order without duplicates. */
export type ArchSet = readonly Arch[];

/** Where the architectures of a pool come from. */
export type ArchSource = "override" | "nodes" | "worker pool" | "control plane";

/** The architectures of a pool. */
export interface DetectedSet {
  readonly set: ArchSet;
  readonly source: ArchSource;
  /** Nodes of each architecture in the pool; expected ones of MachineSets have none. */
  readonly nodeCounts: Readonly<Record<string, number>>;
  readonly findings: readonly DetectionFinding[];
}

/** What is odd about a pool's architectures. */
export type DetectionFinding =
  | { readonly kind: "InvalidOverride"; readonly message: string }
  | { readonly kind: "ArchitectureDisagreement"; readonly node: string; readonly message: string }
  | { readonly kind: "UnknownArchitecture"; readonly node: string; readonly message: string };

/** `single`: the image is published as it is. `index`: an image index of all architectures. */
export type BuildMode = "single" | "index";

/** What one architecture's image is made of and where it goes. */
export interface ArchPlan {
  readonly arch: Arch;
  /** 64 hex digits. */
  readonly buildKey: string;
  readonly job: string;
  readonly digestMap: string;
  readonly containerfileMap: string;
  /** Tag that the Job pushes; `rN` is appended where tags cannot be moved. */
  readonly tag: string;
  /** The user's text for this architecture; absent: none. */
  readonly userText?: string | undefined;
  /** The whole text that is built. */
  readonly containerfile: string;
}

/** What is to be built for a pool. */
export interface BuildPlan {
  readonly kind: "plan";
  readonly mode: BuildMode;
  readonly set: ArchSet;
  /** Name of the MachineOSBuild, and the tag of what is published. */
  readonly name: string;
  readonly config: string;
  readonly pool: string;
  readonly rendered: string;
  /** `registry/repository` of the push spec. */
  readonly repository: string;
  /** In the order of `set`. */
  readonly builds: readonly ArchPlan[];
  readonly infos: readonly string[];
}

/** Why there is nothing to build. */
export interface PlanError {
  readonly kind: "error";
  readonly reason:
    | "PoolNotFound"
    | "PoolMismatch"
    | "NotRendered"
    | "NameTooLong"
    | "NoArchitecture";
  readonly message: string;
}

/** How far one architecture is. */
export type ArchState = "Pending" | "Reused" | "Preparing" | "Building" | "Succeeded" | "Failed" | "Interrupted";

/** What is recorded of one architecture's build. */
export interface ArchBuild {
  readonly arch: Arch;
  readonly buildKey: string;
  readonly state: ArchState;
  readonly job?: { readonly name: string; readonly uid: string } | undefined;
  readonly digest?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly size?: number | undefined;
  /** RFC 3339. */
  readonly startedAt?: string | undefined;
  readonly finishedAt?: string | undefined;
  readonly attempts: number;
  readonly reason?: FailureReason | string | undefined;
  readonly message?: string | undefined;
  /** The tag that was pushed, where it is not the plan's. */
  readonly tag?: string | undefined;
  /** Since when no node takes it, RFC 3339. */
  readonly waitingSince?: string | undefined;
  /** Reads of a digest that was not there. */
  readonly digestReads?: number | undefined;
  /** It was lost once before the index was made. */
  readonly wasLost?: boolean | undefined;
  /** It is an image of the machine config operator, or of a time with one architecture: it has no label with its key. */
  readonly isUnlabelled?: boolean | undefined;
  /** `registry/repository` that has the image, where it is not the plan's: it is copied when the index is made. */
  readonly from?: string | undefined;
}

/** How far publishing is. */
export type IndexState =
  | { readonly kind: "absent" }
  | {
    readonly kind: "published";
    readonly reference: string;
    readonly tag: string;
    readonly children: readonly string[];
  }
  /** `attempts` so far; the next one not before `retryAtMs`. */
  | {
    readonly kind: "retry";
    readonly attempts: number;
    readonly retryAtMs: number;
    readonly message: string;
    readonly tag?: string | undefined;
  }
  | {
    readonly kind: "failed";
    readonly reason: FailureReason;
    readonly message: string;
    readonly arch?: Arch | undefined;
  };

/** All that is recorded of a MachineOSBuild. */
export interface BuildRecord {
  readonly archs: readonly ArchBuild[];
  readonly index: IndexState;
}

/** Why a build failed. */
export type FailureReason =
  | "DeadlineExceeded"
  | "BuildFailed"
  | "InvalidContainerfile"
  | "UnknownExtension"
  | "NoNodeForArchitecture"
  | "BaseImageLacksArchitecture"
  | "KernelTypeUnsupported"
  | "PushSpecNotRecordable"
  | "NameTooLong"
  | "SecretUnusable"
  | "DigestMissing"
  | "ArchMismatch"
  | "ImageLost"
  | "RegistryUnavailable"
  | "PushDenied"
  | "IndexUnsupported"
  | "DigestMismatch";

/** State of a MachineOSBuild, as the conditions of the upstream kind say it. */
export type MosbState = "initial" | "Prepared" | "Building" | "Succeeded" | "Failed" | "Interrupted";

/** The object that an effect is about. */
export interface ObjectTarget {
  readonly resource: "configs" | "builds" | "pools" | "jobs" | "configMaps" | "secrets";
  readonly name: string;
  /** The effect is void where the object has another one. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** One write. They are carried out in order; the first that fails ends the reconcile, which is then done again. */
export type Effect =
  /** Create it; that it exists is fine. */
  | { readonly kind: "create build"; readonly build: KubeObject }
  /** The Job goes on under another MachineOSBuild: JSON merge patch of the Job. */
  | { readonly kind: "adopt job"; readonly target: ObjectTarget; readonly patch: JsonObject }
  /** Dependents first (that one exists is fine), then the Job, then the Job becomes an owner of each dependent. */
  | {
    readonly kind: "create job";
    readonly arch: Arch;
    readonly job: KubeObject;
    readonly configMaps: readonly KubeObject[];
    readonly secrets: readonly SecretCopy[];
  }
  | { readonly kind: "delete"; readonly target: ObjectTarget; readonly propagation: "Foreground" | "Background" }
  /** Create or replace, against `previousVersion`. */
  | {
    readonly kind: "write record";
    readonly name: string;
    readonly record: BuildRecord;
    readonly object: KubeObject;
    readonly previousVersion?: string | undefined;
  }
  /**
   * JSON merge patch through the status subresource: `patch` is the value of `status`. With `target.resourceVersion` it must
   * be sent along in `metadata`, so that the API server refuses it when another writer was faster: lists are replaced whole.
   */
  | { readonly kind: "patch status"; readonly target: ObjectTarget; readonly patch: JsonObject }
  /** JSON merge patch of annotations; null takes one away. */
  | {
    readonly kind: "patch annotations";
    readonly target: ObjectTarget;
    readonly annotations: Readonly<Record<string, string | null>>;
  }
  /** The ConfigMap of architectures: merge patch of `data`; null takes a pool away. */
  | { readonly kind: "write detection"; readonly name: string; readonly data: Readonly<Record<string, string | null>> }
  /** Verify the children, make the index, push it; then write what {@link noteAssembled} makes of the outcome. */
  | {
    readonly kind: "assemble";
    readonly build: ObjectTarget;
    readonly mode: BuildMode;
    /** `registry/repository:tag`. */
    readonly to: string;
    readonly children: readonly AssembleChild[];
  }
  /** Delete from the registry, in this order; what is not there, denied or not supported is tolerated. */
  | { readonly kind: "collect"; readonly deletions: readonly RegistryDeletion[] };

/** What came of an `assemble` effect, in words of this domain. */
export type AssembleOutcome =
  /** `created`: false when it was there already. */
  | {
    readonly kind: "published";
    readonly reference: string;
    readonly children: readonly string[];
    readonly created: boolean;
  }
  | { readonly kind: "transient"; readonly message: string; readonly retryAfterMs?: number | undefined }
  | { readonly kind: "denied"; readonly message: string }
  | { readonly kind: "child absent"; readonly arch: Arch; readonly message: string }
  /** The image's own config says another platform, or its label another key. */
  | { readonly kind: "child mismatch"; readonly arch: Arch; readonly message: string }
  | { readonly kind: "index refused"; readonly message: string }
  | { readonly kind: "other digest"; readonly message: string }
  /** The registry does not let the tag be moved. */
  | { readonly kind: "tag immutable"; readonly message: string };

/** An image that goes into what is published. */
export interface AssembleChild {
  readonly arch: Arch;
  /** `registry/repository@sha256:…`. */
  readonly reference: string;
  readonly digest: string;
  /** What its label must say; absent: it need not have one. */
  readonly buildKey?: string | undefined;
}

/** A Secret that is made of another one. */
export interface SecretCopy {
  readonly object: KubeObject;
  /** Name of the registry secret whose credentials it gets, as `.dockerconfigjson`. */
  readonly from: string;
}

/** Something to delete from a registry. */
export interface RegistryDeletion {
  readonly kind: "index" | "child";
  /** `registry/repository:tag`. */
  readonly reference: string;
  /** Deleted only while the tag names it. */
  readonly digest: string;
}

/** An event about an object. */
export interface BuildEvent {
  readonly on: "config" | "build" | "pool";
  readonly name: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What a pool's builds look like, for the dashboard and metrics. */
export interface PoolBuildView {
  readonly pool: string;
  readonly config: string;
  readonly mode: BuildMode | "none";
  readonly architectures: readonly string[];
  readonly build: string;
  readonly state: MosbState | "none";
  readonly archs: readonly ArchBuild[];
  readonly uncovered: readonly { readonly node: string; readonly arch: string }[];
  /** `registry/repository@sha256:…`; empty: nothing is published. */
  readonly published: string;
  /** Reason and message of what keeps it from going on; absent: nothing does. */
  readonly problem?: { readonly reason: string; readonly message: string } | undefined;
}

/** What one reconcile comes to. */
export interface ReconcileDecision {
  /** Which rule decided, in a few words that are always the same. */
  readonly reason: string;
  /** To be answered first; then it is decided anew with the answers. No effect comes with questions. */
  readonly questions: readonly RegistryQuestion[];
  readonly effects: readonly Effect[];
  /** To be recorded after the effects. */
  readonly events: readonly BuildEvent[];
  /** When to look again without a change; absent: only after a change. */
  readonly wakeAtMs?: number | undefined;
  readonly view: PoolBuildView;
}

/** Settings as they are without a word of the user. Image and namespace have none. */
export const DEFAULT_SETTINGS: Omit<BuildSettings, "builder" | "digestWriter"> = {
  namespace: "openshift-machine-config-operator",
  serviceAccount: "machine-os-builder",
  requests: {},
  jobDeadlineSeconds: 5_400,
  schedulingTimeoutMs: 15 * 60_000,
  retainMs: 60 * 60_000,
  retainImages: 2,
  maxParallel: 0,
  alwaysIndex: false,
  tolerateDedicated: true,
  cancelSiblings: false,
  autoResume: false,
};
