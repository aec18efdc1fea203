// The names that Archway shares with users and with the Multiarch Tuning Operator (the MTO): never change them.

export const API_GROUP = "multiarch.openshift.io";

/**
 * Annotation of Archway's own Deployment: where the files of Archway's repository can be read, for the links to
 * runbooks.
 */
export const RUNBOOK_BASE_URL = "archway.dev/runbook-base-url";

export const CLUSTER_CONFIG_NAME = "cluster";

/** The default of `--system-namespaces`: pods there are left alone. */
export const DEFAULT_SYSTEM_NAMESPACES: readonly string[] = ["kube-*", "openshift-*", "hypershift-*"];

/** The fallback architecture of a v1alpha1 ClusterPodPlacementConfig. */
export const FALLBACK_ANNOTATION = "multiarch.openshift.io/fallback-architecture";

/** Holds, in a v1alpha1 object, what only v1beta1 can say. The conversion to v1beta1 removes it. */
export const STASH_ANNOTATION = "archway.dev/v1beta1-spec";

/** The scheduling gate; also a pod label key with the values of {@link GateLabel}. */
export const SCHEDULING_GATE = "multiarch.openshift.io/scheduling-gate";

export const GateLabel = { notSet: "not-set", gated: "gated", removed: "removed" } as const;

export const AffinityLabel = { notSet: "not-set", set: "set" } as const;

/** The AdmissionCheck that Archway answers for Kueue; the manifests have it. */
export const ADMISSION_CHECK = "archway";

/** Pod label keys that Archway owns. Architecture labels are made by {@link architectureLabel}. */
export const PodLabel = {
  gate: SCHEDULING_GATE,
  nodeAffinity: "multiarch.openshift.io/node-affinity",
  preferredNodeAffinity: "multiarch.openshift.io/preferred-node-affinity",
  singleArch: "multiarch.openshift.io/single-arch",
  multiArch: "multiarch.openshift.io/multi-arch",
  noSupportedArch: "multiarch.openshift.io/no-supported-arch",
  fallbackArch: "multiarch.openshift.io/fallback-arch",
  inspectError: "multiarch.openshift.io/image-inspect-error",
  inspectErrorCount: "multiarch.openshift.io/image-inspect-error-count",
  execFormatError: "multiarch.openshift.io/exec-format-error",
} as const;

export const PodAnnotation = {
  inspectError: "multiarch.openshift.io/image-inspect-error",
  preferredSources: "multiarch.openshift.io/preferred-affinity-sources",
  decision: "archway.dev/decision",
} as const;

/** Labels of ENoExecEvents. Events with the label `failedArchitecture` are records of images, not reports of a node. */
export const EnoexecLabel = {
  error: "multiarch.openshift.io/enoexec-event-error",
  /** The architecture that an image claims and its program lacks. */
  failedArchitecture: "archway.dev/failed-architecture",
} as const;

export const EnoexecAnnotation = {
  /** The node that wrote the event; an admission policy compares it with the writer's own. */
  node: "archway.dev/node",
  podUid: "archway.dev/pod-uid",
  command: "archway.dev/command",
  /** "true" when the command was the first program of the container, which the image or the pod chooses. */
  entryPoint: "archway.dev/entry-point",
  at: "archway.dev/at",
  /** Records of images only: the digest, the namespace for which the record counts, the image as the pod names it. */
  failedDigest: "archway.dev/failed-digest",
  failedIn: "archway.dev/failed-in",
  failedImage: "archway.dev/failed-image",
  /** The nodes, separated by commas, on which the image's own program has certainly failed. */
  failedNodes: "archway.dev/failed-nodes",
} as const;

/** Names of the exec format error monitor's objects: those of the MTO. */
export const ExecFormatMonitor = { daemon: "enoexec-event-daemon" } as const;

/** The label `multiarch.openshift.io/<arch>` of a pod whose images run on that architecture. */
export function architectureLabel(architecture: string): string {
  return `${API_GROUP}/${architecture}`;
}

export const NODE_ARCH_LABEL = "kubernetes.io/arch";

export const NODE_OS_LABEL = "kubernetes.io/os";

/** Affinity key that no node carries: the pod cannot run anywhere. */
export const NO_SUPPORTED_ARCH = PodLabel.noSupportedArch;

export const CONTROL_PLANE_SELECTORS: readonly string[] = [
  "node-role.kubernetes.io/master",
  "node-role.kubernetes.io/control-plane",
];

/** Failures after which the MTO gives up; the count label of such a pod has this value. */
export const INSPECT_RETRY_LIMIT = 5;

export const EVENT_SOURCE = "multiarch-tuning-operator";

/** Annotation of the Lease: what the leader cannot do, so that no replica gates pods that it could not release. */
export const LEADER_IMPAIRMENT = "archway.dev/leader-impairment";

/** A namespace with this label is audited: its pods are left unchanged; an event says what would be done. */
export const AUDIT_NAMESPACE_LABEL = { key: "archway.dev/mode", value: "audit" } as const;

/** A node with this label gets no architecture taint; a taint that it has already is taken off. */
export const ARCH_TAINT_OPT_OUT = { key: "archway.dev/arch-taint", value: "off" } as const;

export const FIELD_MANAGER = "archway";

/** Finalizers on a ClusterPodPlacementConfig (and, left by the MTO, on its operand Deployments). */
export const Finalizer = {
  podPlacement: "finalizers.multiarch.openshift.io/pod-placement",
  noPodPlacementConfig: "finalizers.multiarch.openshift.io/no-pod-placement-config",
  enoexecEvents: "finalizers.multiarch.openshift.io/enoexec-events",
} as const;

/** Finalizer on the objects of {@link Installation}, which Archway needs until it has uninstalled itself. */
export const UNINSTALL_FINALIZER = "archway.dev/uninstall";

export const Installation = {
  deployment: "archway",
  serviceAccount: "archway",
  uninstallRole: "archway-uninstall",
} as const;

export const WebhookName = {
  configuration: "pod-placement-mutating-webhook-configuration",
  queuedJobs: "queued-jobs.archway.dev",
  validatingConfiguration: "multiarch-tuning-operator-validating-webhook-configuration",
} as const;

/** The CustomResourceDefinition whose versions Archway converts. */
export const CONVERTED_CRD = "clusterpodplacementconfigs.multiarch.openshift.io";

/** HTTP paths of the webhooks in the manifests; in a cluster a secret segment precedes each. */
export const WebhookPath = {
  gatePod: "/add-pod-scheduling-gate",
  validateClusterConfig: "/validate-multiarch-openshift-io-v1beta1-clusterpodplacementconfig",
  validateNamespaceConfig: "/validate-multiarch-openshift-io-v1beta1-podplacementconfig",
  convert: "/convert",
} as const;

/** The leader's Lease, in the operator namespace. */
export const LEASE_NAME = "archway.multiarch.openshift.io";

/** Event reasons on pods. Automation keys on them: never rename. */
export const EventReason = {
  gateAdded: "ArchAwareSchedGateAdded",
  predicatesConflict: "ArchAwarePredicatesConflict",
  inspectionError: "ArchAwareInspectionError",
  predicateSet: "ArchAwarePredicateSet",
  preferredDuplicates: "ArchAwarePreferredAffinityDuplicates",
  fallbackSet: "ArchAwareFallbackPredicateSet",
  noSupportedArchitectures: "NoSupportedArchitecturesFound",
  gatedPodIgnored: "ArchAwareGatedPodIgnored",
  gateRemoved: "ArchAwareSchedGateRemovalSuccess",
  /** Archway's own: a pod names architectures itself, and its images have none of them. */
  pinContradicted: "ArchAwarePinContradicted",
  gateRemovalFailed: "ArchAwareSchedGateRemovalFailed",
  /**
   * Archway's own: the gate was lifted without a decision, because pod placement leaves the cluster or no replica
   * leads.
   */
  gateLifted: "ArchAwareSchedGateLifted",
  /** A container was to run a program of another architecture than its node has. */
  execFormatError: "ExecFormatError",
  /** Archway's own: a pod with an ExecFormatError was evicted, so that its replacement is placed by its images. */
  execFormatRepaired: "ArchAwareExecFormatRepaired",
  /** Archway's own, on the cluster config: pods were admitted while no replica answered in time. */
  admissionMissed: "ArchAwareAdmissionMissed",
  /** Archway's own, on the cluster config: the architecture taints entered another phase. */
  taintsProgress: "ArchTaintsProgress",
  /** Archway's own, on the cluster config: pods without the toleration find no node, so no further node is tainted. */
  taintsPaused: "ArchTaintsPaused",
  /** Archway's own, on the cluster config: a replica lifted the taints, because no replica leads. */
  taintsFailedOpen: "ArchTaintsFailedOpen",
  /** Archway's own, on a node: kubelet and label name different architectures, so it gets no taint. */
  taintDisagreement: "ArchTaintDisagreement",
} as const;

/** The pool of a MachineOSBuild: a label of the machine config operator. */
export const BUILD_POOL_LABEL = "machineconfiguration.openshift.io/target-machine-config-pool";

/**
 * KubeVirt: label and value of a virtual machine's pod, prefix of labels for its guest's architecture, program of its
 * disks.
 */
export const KubeVirt = {
  label: "kubevirt.io",
  launcher: "virt-launcher",
  guestLabel: "kubevirt.io/vm-arch-",
  diskProgram: "/usr/bin/container-disk",
} as const;
