// The types of image builds: what is planned, and what is recorded of it.
import * as z from "zod";
import { KNOWN_ARCHITECTURES, type KnownArchitecture } from "../../arch.ts";

/** Architectures in alphabetical order without duplicates. */
export type ArchitectureSet = readonly KnownArchitecture[];

export interface DetectedSet {
  readonly set: ArchitectureSet;
  readonly source: "override" | "nodes" | "worker pool" | "control plane";
  /** Nodes of each architecture in the pool; expected ones of MachineSets have none. */
  readonly nodeCounts: Readonly<Record<string, number>>;
  readonly findings: readonly DetectionFinding[];
}

export interface DetectionFinding {
  readonly kind: "InvalidOverride" | "ArchitectureDisagreement" | "UnknownArchitecture";
  readonly message: string;
}

/** `single`: the image is published as it is. `index`: an image index of all architectures. */
export type BuildMode = "single" | "index";

export interface ArchitecturePlan {
  readonly arch: KnownArchitecture;
  readonly buildKey: string;
  readonly jobName: string;
  readonly digestConfigMapName: string;
  readonly containerfileConfigMapName: string;
  /** Tag that the Job pushes; `-rN` is appended where tags are immutable. */
  readonly tag: string;
  readonly userText?: string | undefined;
  readonly containerfile: string;
}

export interface BuildPlan {
  readonly kind: "plan";
  readonly mode: BuildMode;
  readonly set: ArchitectureSet;
  /** Name of the MachineOSBuild, and the tag of what is published. */
  readonly name: string;
  readonly configName: string;
  readonly pool: string;
  /** Name of the rendered MachineConfig. */
  readonly renderedConfigName: string;
  readonly repository: string;
  /** `registry/repository` that Jobs push to: the same, or one for staging. */
  readonly jobRepository: string;
  readonly builds: readonly ArchitecturePlan[];
  /** For the event of the build that begins. */
  readonly infos: readonly string[];
}

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

const BUILD_FAILURE_REASONS = [
  "DeadlineExceeded",
  "BuildFailed",
  "InvalidContainerfile",
  "UnknownExtension",
  "NoNodeForArchitecture",
  "BaseImageLacksArchitecture",
  "KernelTypeUnsupported",
  "PushSpecNotRecordable",
  "DigestMissing",
  "ArchMismatch",
  "ImageLost",
  "RegistryUnavailable",
  "PushDenied",
  "IndexUnsupported",
  "DigestMismatch",
] as const;

export type BuildFailureReason = typeof BUILD_FAILURE_REASONS[number];

export const ARCHITECTURE_STATES = [
  "Pending",
  "Reused",
  "Preparing",
  "Building",
  "Succeeded",
  "Failed",
  "Interrupted",
] as const;

export type ArchitectureState = typeof ARCHITECTURE_STATES[number];

const count = z.number().int().nonnegative();
const maybe = { text: z.string().optional(), flag: z.boolean().optional() };
const loose = z.looseObject;

/** The named members of a loose object, which keeps those of a later version as well. */
type Named<T> = T extends unknown ? { readonly [K in keyof T as string extends K ? never : K]: T[K] } : never;

/** What is recorded of one architecture's build; times are RFC 3339. */
export const ArchitectureBuild = loose({
  arch: z.enum(KNOWN_ARCHITECTURES),
  buildKey: z.string(),
  state: z.enum(ARCHITECTURE_STATES),
  job: loose({ name: z.string(), uid: z.string() }).optional(),
  digest: maybe.text,
  mediaType: maybe.text,
  size: count.optional(),
  startedAt: maybe.text,
  finishedAt: maybe.text,
  attempts: count,
  /** A {@link BuildFailureReason}, or `JobDeleted`. */
  reason: maybe.text,
  message: maybe.text,
  /** Version of the push secret that was denied. */
  deniedVersion: maybe.text,
  /** The tag that was pushed, where it is not the plan's. */
  tag: maybe.text,
  waitingSince: maybe.text,
  /** Since when a registry gives no answer about this architecture. */
  unansweredSince: maybe.text,
  wasLost: maybe.flag,
  /** The image has no label with its build key: the machine config operator made it, or a build in mode `single`. */
  isUnlabelled: maybe.flag,
  /** `registry/repository` that has the image, where it is not the plan's: it is copied when the index is made. */
  from: maybe.text,
  /** `from` is a repository for staging: its image is deleted once the index is published. */
  isStaged: maybe.flag,
  /** The base image by digest, where the MachineConfig names it by tag. */
  base: maybe.text,
}).readonly();

export type ArchitectureBuild = Named<z.infer<typeof ArchitectureBuild>>;

export const IndexState = z.discriminatedUnion("kind", [
  loose({ kind: z.literal("absent") }),
  loose({
    kind: z.literal("published"),
    reference: z.string(),
    tag: z.string(),
    children: z.array(z.string()).readonly(),
  }),
  /** `attempts` so far; the next one not before `retryAtMs`. */
  loose({ kind: z.literal("retry"), attempts: count, retryAtMs: z.number(), message: z.string(), tag: maybe.text }),
  loose({
    kind: z.literal("failed"),
    reason: z.enum(BUILD_FAILURE_REASONS).catch("RegistryUnavailable"),
    message: z.string(),
    deniedVersion: maybe.text,
  }),
]).readonly();

export type IndexState = Named<z.infer<typeof IndexState>>;

export interface BuildRecord {
  readonly archs: readonly ArchitectureBuild[];
  readonly index: IndexState;
}

export type MachineOSBuildState = "initial" | "Prepared" | "Building" | "Succeeded" | "Failed" | "Interrupted";
