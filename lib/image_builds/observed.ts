// What image builds read from the cluster, as one reconcile sees it: objects reduced to what decisions depend on.
import type { KnownArchitecture } from "../arch.ts";
import type { JsonObject } from "../json.ts";
import type { LabelSelector } from "../k8s/label_selector.ts";

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
  /** `spec.nodeSelector`. One that is absent or empty, `everything` here, selects no node of a pool. */
  readonly nodeSelector: LabelSelector;
  readonly isPaused: boolean;
  /** The rendered configuration that it is to run. */
  readonly rendered: string;
  /** `spec.configuration` as it stands: its name, and the references of what it was made of. */
  readonly configuration: JsonObject;
  /** The rendered configuration that it runs. */
  readonly currentRendered: string;
  readonly conditions: readonly Condition[];
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
  /** A pod of it that no node takes: the scheduler's message. Absent: none is known. */
  readonly unschedulable?: string | undefined;
  /** A pod of it that a node has taken and that has not started. Absent: none is known of which there is something to say. */
  readonly starting?: StartingPod | undefined;
}

/** A pod that a node has taken and that has not started. */
export interface StartingPod {
  /** What its node says is wrong; empty: nothing so far. */
  readonly complaints: readonly string[];
  /** Its volumes of what a cluster may have, while they may not be mounted yet. */
  readonly volumes: readonly string[];
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

/** A secret as far as decisions read it. */
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
