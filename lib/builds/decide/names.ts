// Labels, annotations, names and condition types of image builds: those of the machine config operator, and Archway's
// own.
import { BUILD_POOL_LABEL } from "../../names.ts";
import type { KnownArchitecture } from "../../arch.ts";

/** The Lease of image builds in Archway's namespace, and `source.component` of their events. */
export const IMAGE_BUILD_NAMES = { lease: "archway-image-builds", eventSource: "archway-image-builds" } as const;

export const MCO_GROUP = "machineconfiguration.openshift.io";

export const MCO_API_VERSION = `${MCO_GROUP}/v1`;

export const BuildLabel = {
  layering: `${MCO_GROUP}/on-cluster-layering`,
  ephemeral: `${MCO_GROUP}/ephemeral-build-object`,
  rendered: `${MCO_GROUP}/rendered-machine-config`,
  pool: BUILD_POOL_LABEL,
  config: `${MCO_GROUP}/machine-os-config`,
  build: `${MCO_GROUP}/machine-os-build`,
  preBuilt: `${MCO_GROUP}/pre-built-image`,
  canonicalized: `${MCO_GROUP}/canonicalizedSecret`,
  originalSecret: `${MCO_GROUP}/originalSecretName`,
  /** Archway's own: the architecture, and the first 32 digits of the build key. */
  architecture: "archway.dev/arch",
  buildKey: "archway.dev/build-key",
  /** On the copy of a secret: the resource version of the secret that it is a copy of. */
  secretVersion: "archway.dev/secret-version",
} as const;

export const McoAnnotation = {
  build: `${MCO_GROUP}/machine-os-build`,
  config: `${MCO_GROUP}/machine-os-config`,
  jobUid: `${MCO_GROUP}/job-uid`,
  pushSecret: `${MCO_GROUP}/rendered-image-push-secret`,
  currentBuild: `${MCO_GROUP}/current-machine-os-build`,
  rebuild: `${MCO_GROUP}/rebuild`,
  preBuiltImage: `${MCO_GROUP}/pre-built-image`,
  releaseVersion: `${MCO_GROUP}/release-image-version`,
  controllerVersion: `${MCO_GROUP}/generated-by-controller-version`,
  nodeCurrentImage: `${MCO_GROUP}/currentImage`,
  nodeDesiredImage: `${MCO_GROUP}/desiredImage`,
} as const;

export const ArchwayAnnotation = {
  /** On a MachineOSConfig: the user's architectures. On a MachineConfigPool: what was found. */
  architectures: "archway.dev/architectures",
  /** The whole build key, and the name of the MachineOSBuild, on what belongs to one architecture. */
  buildKey: "archway.dev/build-key",
  build: "archway.dev/mosb",
  /** On the record of a build, which outlives it until its images are deleted: the build's UID and push spec. */
  buildUid: "archway.dev/mosb-uid",
  pushSpec: "archway.dev/push-spec",
  /** On a MachineOSBuild: `amd64=Succeeded,arm64=Building`. */
  architectureStatus: "archway.dev/arch-status",
  /** On a MachineOSBuild: architectures that are built anew. */
  forced: "archway.dev/force-arches",
  /** On a MachineOSConfig: `UID of the build that is replaced:architectures`, while a rebuild begins. */
  rebuilding: "archway.dev/rebuilding",
  /** On a MachineOSBuild of an index: its architectures. The machine config operator's builds have none. */
  indexOf: "archway.dev/index-of",
} as const;

export const ImageLabel = { buildKey: "archway.dev.build-key", architecture: "archway.dev.arch" } as const;

export const ConfigCondition = {
  anotherBuilder: "AnotherBuilderActive",
  notCovered: "ArchitectureNotCovered",
  override: "ArchitecturesOverrideInvalid",
  cannotPlan: "BuildNotPossible",
  imageChanged: "PublishedImageChanged",
  /** The machine config operator's own condition: a pre-built image is in use. */
  seeded: "Seeded",
} as const;

export const BuildCondition = { architecturesComplete: "ArchBuildsComplete", published: "IndexPublished" } as const;

export const IMAGE_BUILD_DEGRADED = "ImageBuildDegraded";

export const BLOCKING_POOL_CONDITIONS: readonly string[] = [
  "NodeDegraded",
  "RenderDegraded",
  "PinnedImageSetsDegraded",
  "SynchronizerDegraded",
];

export const ARCHITECTURES_MAP = "archway-architectures";

export const BUILDER_IMAGES_MAP = "machine-config-operator-images";

/** Path of the webhook that holds back the machine config operator's own builder; the manifests name it as well. */
export const BUILDER_HOLD_PATH = "/hold-machine-os-builder";

/** The finalizer for which the garbage collector deletes a build's dependents before the build. */
export const FOREGROUND_DELETION = "foregroundDeletion";

/** Name of the pull secret that is used where the user names none. */
export const GLOBAL_PULL_SECRET_COPY = "global-pull-secret-copy";

export const CONTAINERFILE_ARCHITECTURES: Readonly<Record<string, KnownArchitecture>> = {
  AMD64: "amd64",
  ARM64: "arm64",
  PPC64LE: "ppc64le",
  S390X: "s390x",
};

export function recordName(build: string): string {
  return `archs-${build}`;
}
