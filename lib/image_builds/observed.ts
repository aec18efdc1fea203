// What image builds read from the cluster, as one reconcile sees it: objects reduced to what decisions depend on.
import type { KnownArchitecture } from "../arch.ts";
import type { JsonObject } from "../json.ts";
import type { BuildRecord } from "./types.ts";

/** An architecture that node images are built for, as GOARCH names it. */
export type Arch = KnownArchitecture;

/** A condition of any of the upstream kinds. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** RFC 3339; empty where the object has none. */
  readonly lastTransitionTime: string;
}

/** Metadata that all kinds are read with. */
export interface ObservedMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly owners: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
  readonly isDeleting: boolean;
}

/** One text of `spec.containerFile`. */
export interface ContainerFile {
  readonly arch: Arch | "NoArch";
  readonly content: string;
}

/** A MachineOSConfig: a pool that has its node image built. */
export interface MachineOSConfig {
  readonly meta: ObservedMeta;
  readonly pool: string;
  /** Absent: the copy of the cluster's pull secret. */
  readonly pullSecret?: string | undefined;
  readonly pushSecret: string;
  /** `registry/repository:tag`. */
  readonly pushSpec: string;
  readonly containerFiles: readonly ContainerFile[];
  /** The spec as it stands, for the name that the machine config operator gives a build. */
  readonly spec: JsonObject;
  readonly status: {
    readonly conditions: readonly Condition[];
    readonly observedGeneration: number;
    /** `registry/repository@sha256:…`: what nodes run. */
    readonly pullSpec?: string | undefined;
    /** Name of the MachineOSBuild that it came from. */
    readonly build?: string | undefined;
  };
}

/** A MachineOSBuild. */
export interface MachineOSBuild {
  readonly meta: ObservedMeta;
  readonly config: string;
  readonly rendered: string;
  readonly pushSpec: string;
  readonly status: {
    readonly conditions: readonly Condition[];
    readonly job?: string | undefined;
    readonly relatedObjects: readonly { readonly resource: string; readonly name: string }[];
    /** RFC 3339. */
    readonly buildStart?: string | undefined;
    readonly buildEnd?: string | undefined;
    readonly digestedPushSpec?: string | undefined;
  };
}

/** A MachineConfigPool. */
export interface MachineConfigPool {
  readonly meta: ObservedMeta;
  /** `spec.nodeSelector`; absent: it selects no node. */
  readonly nodeSelector?: LabelSelector | undefined;
  readonly isPaused: boolean;
  /** The rendered configuration that it is to run. */
  readonly rendered: string;
  /** `spec.configuration` as it stands: its name, and the references of what it was made of. */
  readonly configuration: JsonObject;
  /** The rendered configuration that it runs. */
  readonly currentRendered: string;
  readonly conditions: readonly Condition[];
}

/** A label selector of the API. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values: readonly string[];
  }[];
}

/** A rendered MachineConfig. */
export interface RenderedConfig {
  readonly meta: ObservedMeta;
  readonly osImageURL: string;
  readonly extensionsImage: string;
  readonly kernelType: string;
  readonly kernelArguments: readonly string[];
  readonly extensions: readonly string[];
  /** `/etc/containers/policy.json` and `/etc/containers/registries.conf` of its Ignition files, decoded. */
  readonly files: { readonly policy?: string | undefined; readonly registries?: string | undefined };
  /** The whole object: it goes into the build. */
  readonly whole: JsonObject;
}

/** A taint. */
export interface BuildTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** A node. */
export interface BuildNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly BuildTaint[];
  /** `status.nodeInfo.architecture`; empty until the kubelet reports. */
  readonly reported: string;
  /** `status.nodeInfo.operatingSystem`, or the label. */
  readonly os: string;
  /** `spec.unschedulable` is not set. */
  readonly isSchedulable: boolean;
  readonly isReady: boolean;
  /** Images that the machine config daemon runs and is to run; empty where the node has none. */
  readonly currentImage: string;
  readonly desiredImage: string;
}

/** A MachineSet, or another kind that makes machines. */
export interface MachineSet {
  readonly name: string;
  /** Labels of the nodes that it makes. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** `kubernetes.io/arch` of its capacity annotation; empty where it has none. */
  readonly arch: string;
}

/** A Job of a build, with what its status comes from. */
export interface JobObservation {
  readonly meta: ObservedMeta;
  /** UID of the MachineOSBuild that controls it; empty: none. */
  readonly build: string;
  readonly arch?: Arch | undefined;
  /** The whole build key, from its annotation; empty for one that has none. */
  readonly buildKey: string;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Pods that ended and are not counted yet. */
  readonly uncounted: number;
  readonly startedMs?: number | undefined;
  readonly conditions: readonly Condition[];
  /** A pod of it that no node takes: the scheduler's words. Absent: none is known. */
  readonly unschedulable?: string | undefined;
}

/** A ConfigMap in which a finished pod left the digest that it pushed. */
export interface DigestObservation {
  readonly meta: ObservedMeta;
  /** `sha256:…`; empty where it has none. */
  readonly digest: string;
  readonly arch: string;
  readonly buildKey: string;
  readonly jobUid: string;
}

/** A secret as far as decisions look at it. */
export type SecretState = "usable" | "absent" | "not for a registry";

/** Which objects of builds exist by name, so that only what is missing is made and only what is there is deleted. */
export interface ChildObject {
  readonly resource: "configMaps" | "secrets";
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owners: ObservedMeta["owners"];
}

/** Cluster settings that go into a build. */
export interface ClusterSettings {
  /** `status.desired.architecture` of the ClusterVersion; empty: not multi-architecture. */
  readonly payload: string;
  readonly proxy: { readonly http?: string; readonly https?: string; readonly no?: string };
  /** PEM of the additional trust bundle; empty: none. */
  readonly trustBundle: string;
}

/** Everything that one reconcile of one MachineOSConfig reads. */
export interface World {
  readonly nowMs: number;
  readonly config: MachineOSConfig;
  /** Absent: there is none of that name. */
  readonly pool?: MachineConfigPool | undefined;
  /** Every pool: members are decided among them. */
  readonly pools: readonly MachineConfigPool[];
  /** The configuration that `pool.rendered` names. */
  readonly rendered?: RenderedConfig | undefined;
  readonly nodes: readonly BuildNode[];
  readonly machineSets: readonly MachineSet[];
  readonly cluster: ClusterSettings;
  /** MachineOSBuilds of this MachineOSConfig, whoever made them. */
  readonly builds: readonly MachineOSBuild[];
  /** Jobs of these builds. */
  readonly jobs: readonly JobObservation[];
  readonly digests: readonly DigestObservation[];
  readonly records: readonly StoredRecord[];
  readonly children: readonly ChildObject[];
  readonly secrets: { readonly pull: SecretState; readonly push: SecretState };
  /** Optional inputs that exist in the namespace. */
  readonly optional: OptionalInputs;
  /** Whether images that were published are looked at again: after a change, at the start, and now and then. */
  readonly checksImages: boolean;
  /** Whether the machine config operator's own builder has a ready replica. */
  readonly otherBuilder: "ready" | "not ready";
  /** Content of the ConfigMap of architectures, pool by pool; absent: there is none. */
  readonly detected?: { readonly resourceVersion: string; readonly data: Readonly<Record<string, string>> } | undefined;
  /** What the registries answered since this reconcile began, by {@link questionKey}. */
  readonly answers: ReadonlyMap<string, RegistryAnswer>;
  readonly settings: BuildSettings;
}

/** Optional inputs of a build by name of their objects. */
export interface OptionalInputs {
  readonly hasEntitlements: boolean;
  readonly hasYumRepos: boolean;
  readonly hasRpmKeys: boolean;
}

/** A record of a build as it is stored. */
export interface StoredRecord {
  /** Of the ConfigMap. */
  readonly name: string;
  readonly resourceVersion: string;
  /** Name of the MachineOSBuild. */
  readonly build: string;
  /** UID of the MachineOSBuild that it was written for. */
  readonly buildUid: string;
  readonly record: BuildRecord;
}

/** What a user configures. */
export interface BuildSettings {
  /** Where Jobs and what belongs to them are. */
  readonly namespace: string;
  /** Image and program of the build; empty command: the script of this project with `buildah`. */
  readonly builder: { readonly image: string; readonly command: readonly string[] };
  /** Image and program that hands the digest over. */
  readonly digestWriter: { readonly image: string; readonly command: readonly string[] };
  readonly serviceAccount: string;
  /** Resource requests of the building container, as `{cpu: "1"}`. */
  readonly requests: Readonly<Record<string, string>>;
  readonly jobDeadlineSeconds: number;
  readonly schedulingTimeoutMs: number;
  readonly retainMs: number;
  readonly retainImages: number;
  /** Architectures built at a time; 0: all. */
  readonly maxParallel: number;
  readonly alwaysIndex: boolean;
  readonly tolerateDedicated: boolean;
  readonly cancelSiblings: boolean;
  readonly autoResume: boolean;
}

/** What a decision asks of registries. */
export type RegistryQuestion =
  /** The image behind a reference that must be of one architecture: its digest and what its own config says. */
  | { readonly kind: "image"; readonly reference: string }
  /** The platforms of a base image, read with the pull secret. */
  | { readonly kind: "platforms"; readonly reference: string }
  /** What a tag names, without resolving an index: its digest and its children's. */
  | { readonly kind: "tag"; readonly reference: string }
  /** Whether the push secret may push there: `registry/repository`. */
  | { readonly kind: "push"; readonly repository: string };

/** What a registry answered. Unknown is never taken for absent. */
export type RegistryAnswer =
  | {
    readonly kind: "image";
    readonly digest: string;
    readonly mediaType: string;
    readonly size: number;
    readonly os: string;
    readonly architecture: string;
    readonly labels: Readonly<Record<string, string>>;
  }
  | { readonly kind: "platforms"; readonly isIndex: boolean; readonly architectures: readonly string[] }
  | { readonly kind: "tag"; readonly digest: string; readonly children: readonly string[] }
  | { readonly kind: "granted" }
  | { readonly kind: "absent" }
  | { readonly kind: "denied"; readonly message: string }
  /** It is there, but it is no image of one architecture, or one that cannot be read for good. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAtMs?: number | undefined };

/** One text for each question. */
export function questionKey(question: RegistryQuestion): string {
  return `${question.kind} ${question.kind === "push" ? question.repository : question.reference}`;
}
