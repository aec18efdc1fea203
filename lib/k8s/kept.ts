// How much each reflector keeps of the cluster's objects, a row each. Tenants choose number and size of their objects, so these
// have a limit for each namespace and one in all. Together the limits fit into half of the heap of the Deployment.
import type { ShareLimits } from "./shares.ts";

/** Objects that tenants create, weighed by about the bytes of heap that they take. */
type SharesRow = { readonly kind: "shares" } & Omit<ShareLimits<never>, "weightOf">;

interface WholeRow {
  readonly kind: "all";
  readonly because: string;
}

const MIB = 1024 * 1024;
/** Objects that only administrators and components of the platform create. */
const FEW = { kind: "all", because: "tenants may not create them" } as const satisfies WholeRow;

export const KEPT = {
  gatedPods: shares({
    maxPerNamespace: 32 * MIB,
    maxTotal: 64 * MIB,
    rest: "of these pods only the names are kept: each is read when it is its turn",
  }),
  namespaceConfigs: shares({ maxPerNamespace: MIB, maxTotal: 16 * MIB, rest: "they have no effect" }),
  templates: shares({
    maxPerNamespace: MIB,
    maxTotal: 8 * MIB,
    rest: "their images are inspected when there are pods",
  }),
  daemonSets: shares({
    maxPerNamespace: MIB,
    maxTotal: 16 * MIB,
    rest: "their images are not compared with the nodes",
  }),
  /** Kept from the watch event until they are reported; the reflector itself keeps none. */
  auditedPods: shares({
    maxPerNamespace: 8 * MIB,
    maxTotal: 32 * MIB,
    rest: "they are not reported until they change or are listed again",
  }),
  /** For the daemon: a kubelet runs some hundred pods, but any number of pods may name its node. */
  nodePods: shares({ maxPerNamespace: MIB, maxTotal: 8 * MIB, rest: "what fails in their containers is not reported" }),
  /** Not bytes, but the cost of a DaemonSet in a survey of nodes: two or three for an ordinary one. */
  taintDaemonSets: shares({ maxPerNamespace: 512, maxTotal: 4_096, rest: "they hold no node back" }),
  taintPods: {
    kind: "all",
    because: "each takes a few hundred bytes, and one that is left out could be evicted",
  } satisfies WholeRow,
  /** Pods, events and Workloads that are handled as they come. */
  passing: { kind: "nothing" },
  execFormatEvents: { kind: "all", because: "the leader deletes what a node has beyond 2 000" } satisfies WholeRow,
  failedImages: { kind: "all", because: "the leader makes 50 of a namespace" } satisfies WholeRow,
  clusterConfigs: FEW,
  nodes: FEW,
  namespaces: FEW,
  /** The webhook configurations, the Deployment, the ServiceAccount, the monitor's DaemonSet: each is watched by name. */
  ownObjects: FEW,
  globalPullSecret: FEW,
  upgrades: FEW,
  imageBuilds: FEW,
} as const;

function shares(row: Omit<SharesRow, "kind">): SharesRow {
  return { kind: "shares", ...row };
}
