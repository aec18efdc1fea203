// A pool's build as metrics see it.

/** States of a pool's build, and of the parts of it that the machine config operator has metrics for. */
export const BUILD_STATES = ["none", "pending", "building", "succeeded", "failed", "interrupted", "pushing"] as const;

/** One of {@link BUILD_STATES}. */
export type BuildStateLabel = typeof BUILD_STATES[number];

/** States of one architecture's build. */
export const ARCH_BUILD_STATES = [
  "Pending",
  "Reused",
  "Preparing",
  "Building",
  "Succeeded",
  "Failed",
  "Interrupted",
] as const;

/** One architecture of a pool's build. */
export interface ShownArch {
  readonly arch: string;
  readonly state: typeof ARCH_BUILD_STATES[number];
  /** Pods that its Job has had. */
  readonly attempts: number;
  /** Absent: it has no Job. */
  readonly job?: object | undefined;
  /** RFC 3339. */
  readonly startedAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}

/** A pool's build. */
export interface ShownBuild {
  readonly pool: string;
  readonly config: string;
  /** Name of the MachineOSBuild; empty: none. */
  readonly build: string;
  readonly state: "none" | "initial" | "Prepared" | "Building" | "Succeeded" | "Failed" | "Interrupted";
  /** Name of the configuration that the pool is to run. */
  readonly rendered: string;
  /** Of the MachineOSBuild, RFC 3339; absent: not yet. */
  readonly times: {
    readonly createdAt?: string | undefined;
    readonly startedAt?: string | undefined;
    readonly endedAt?: string | undefined;
  };
  readonly push: Extract<BuildStateLabel, "none" | "pushing" | "succeeded" | "failed">;
  readonly architectures: readonly string[];
  readonly archs: readonly ShownArch[];
  readonly uncovered: readonly { readonly arch: string }[];
  /** Nodes of the pool: all, those that run an image of a build, and those that run what is published. */
  readonly nodes: { readonly total: number; readonly layered: number; readonly updated: number };
}

/** Upper bounds of the time that a build takes (seconds): minutes. */
export const BUILD_BUCKETS: readonly number[] = [60, 120, 300, 600, 900, 1_200, 1_800, 2_700, 3_600];

/** What is shown of a pool whose MachineOSConfig is gone. */
export function shownNothing(pool: string, config: string): ShownBuild {
  const nodes = { total: 0, layered: 0, updated: 0 };
  const lists = { architectures: [], archs: [], uncovered: [] };
  return { pool, config, build: "", state: "none", rendered: "", times: {}, push: "none", nodes, ...lists };
}

/** The label of a build's state. */
export const LABEL_OF: Readonly<Record<ShownBuild["state"], BuildStateLabel>> = {
  none: "none",
  initial: "pending",
  Prepared: "pending",
  Building: "building",
  Succeeded: "succeeded",
  Failed: "failed",
  Interrupted: "interrupted",
};

/** States after which nothing changes, of builds and of architectures. */
export const ENDED_STATES: readonly string[] = ["Succeeded", "Failed", "Interrupted"];
