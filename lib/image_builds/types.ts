// The types of image builds: what is planned, and what is recorded of it.
import type { Arch } from "./observed.ts";

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
  | "DigestMissing"
  | "ArchMismatch"
  | "ImageLost"
  | "RegistryUnavailable"
  | "PushDenied"
  | "IndexUnsupported"
  | "DigestMismatch";

/** State of a MachineOSBuild, as the conditions of the upstream kind say it. */
export type MosbState = "initial" | "Prepared" | "Building" | "Succeeded" | "Failed" | "Interrupted";
