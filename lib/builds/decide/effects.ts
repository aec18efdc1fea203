// The effects and events of a decision, with constructors of those that are common, and the view of a pool's build.
import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { KnownArchitecture } from "../../arch.ts";
import type { ArchitectureBuild, BuildFailureReason, BuildMode, MachineOSBuildState } from "./types.ts";

export interface ObjectTarget {
  readonly resource: "configs" | "builds" | "pools" | "jobs" | "configMaps" | "secrets";
  readonly name: string;
  /** The API server refuses the write where the object has another UID. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** One write. Writes are applied in order; the first failure ends the reconcile, which is then tried again. */
export type BuildEffect =
  | { readonly kind: "create build"; readonly build: KubeObject }
  /** Creates ConfigMaps and Secrets, then the Job, then makes the Job an owner of them. What exists is used. */
  | {
    readonly kind: "create job";
    readonly arch: KnownArchitecture;
    readonly job: KubeObject;
    readonly configMaps: readonly KubeObject[];
    readonly secrets: readonly SecretCopy[];
  }
  | { readonly kind: "refresh secret"; readonly target: ObjectTarget; readonly copy: SecretCopy }
  | { readonly kind: "delete"; readonly target: ObjectTarget; readonly propagation: "Foreground" | "Background" }
  | { readonly kind: "write record"; readonly object: KubeObject; readonly previousVersion?: string | undefined }
  /** JSON merge patch of the object or its status, refused where UID or version differ: it replaces whole lists. */
  | { readonly kind: "patch" | "patch status"; readonly target: ObjectTarget; readonly patch: JsonObject }
  /** JSON merge patch of the `data` of the ConfigMap of architectures. */
  | { readonly kind: "write architectures"; readonly data: Readonly<Record<string, string>> }
  /** Verifies images, publishes their index or the only image, and records the outcome by `withPublishOutcome()`. */
  | {
    readonly kind: "publish";
    /** Name of the MachineOSBuild. */
    readonly build: string;
    readonly mode: BuildMode;
    /** `registry/repository:tag`. */
    readonly to: string;
    readonly tag: string;
    readonly children: readonly ImageToPublish[];
  }
  /** Deletes from the registry, in this order. Images that are absent, and refusals, are tolerated. */
  | { readonly kind: "delete images"; readonly deletions: readonly RegistryDeletion[] };

export type PublishOutcome =
  /** `isNew`: the tag did not name this image before. */
  | {
    readonly kind: "published";
    readonly reference: string;
    readonly children: readonly string[];
    readonly isNew: boolean;
  }
  | { readonly kind: "retry"; readonly message: string; readonly retryAfterMs?: number | undefined }
  /** The registry does not let the tag be moved. */
  | { readonly kind: "tag immutable"; readonly message: string }
  | { readonly kind: "lost"; readonly arch: KnownArchitecture; readonly message: string }
  /** With `arch`: its image is not what was to be built. Without: the whole cannot be published. */
  | {
    readonly kind: "failed";
    readonly reason: BuildFailureReason;
    readonly message: string;
    readonly arch?: KnownArchitecture | undefined;
  };

export interface ImageToPublish {
  readonly arch: KnownArchitecture;
  /** `registry/repository@digest`. */
  readonly reference: string;
  readonly buildKey: string;
  readonly isUnlabelled: boolean;
  /** The tag that a staged image gets in the repository of the index; absent for other images. */
  readonly tag?: string;
}

export interface SecretCopy {
  readonly object: KubeObject;
  /** Name of the registry secret whose credentials the copy gets, as `.dockerconfigjson`. */
  readonly from: string;
}

export interface RegistryDeletion {
  /** `registry/repository:tag`. */
  readonly reference: string;
  readonly digest: string;
}

export interface BuildEvent {
  readonly on: "config" | "build" | "pool";
  readonly name: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface PoolBuildView {
  readonly pool: string;
  readonly architectures: readonly string[];
  readonly build: string;
  readonly state: MachineOSBuildState | "none";
  /** Name of the rendered MachineConfig that the pool is to run; empty: none. */
  readonly rendered: string;
  readonly times: {
    readonly createdAt?: string | undefined;
    readonly startedAt?: string | undefined;
    readonly endedAt?: string | undefined;
  };
  readonly push: "none" | "pushing" | "succeeded" | "failed";
  readonly archs: readonly ArchitectureBuild[];
  readonly uncovered: readonly { readonly node: string; readonly arch: string }[];
  readonly nodes: { readonly total: number; readonly layered: number; readonly updated: number };
  /** `registry/repository@sha256:…`; empty: nothing is published. */
  readonly published: string;
  readonly problem?: { readonly reason: string; readonly message: string } | undefined;
}

/** Deletes this object, but not a later one of the same name. */
export function deletion(
  resource: ObjectTarget["resource"],
  { name, uid }: { readonly name: string; readonly uid: string },
  propagation: "Foreground" | "Background",
): BuildEffect {
  return { kind: "delete", target: { resource, name, uid }, propagation };
}

/** Null removes an annotation. */
export function annotationPatch(
  resource: ObjectTarget["resource"],
  { name, uid }: Omit<ObjectTarget, "resource">,
  annotations: Readonly<Record<string, string | null>>,
): BuildEffect {
  return { kind: "patch", target: { resource, name, uid }, patch: { metadata: { annotations } } };
}

export function statusPatch(
  resource: ObjectTarget["resource"],
  target: Omit<ObjectTarget, "resource">,
  patch: JsonObject,
): BuildEffect {
  return { kind: "patch status", target: { resource, ...target }, patch };
}

type Regarding = readonly [on: BuildEvent["on"], name: string];

export function normal([on, name]: Regarding, reason: string, message: string): BuildEvent {
  return { on, name, type: "Normal", reason, message };
}

export function warning([on, name]: Regarding, reason: string, message: string): BuildEvent {
  return { on, name, type: "Warning", reason, message };
}
