// What reflectors keep of the cluster's objects, a row each. Tenants decide how many objects there are, and how large: what
// they make has a share for each namespace and one in all. Together the shares fit into half of the heap of the Deployment.
import type { Sharing } from "./shares.ts";

/** Of what tenants make: bytes of the heap, about. */
type SharesRow = { readonly kind: "shares" } & Omit<Sharing<never>, "weightOf">;

interface WholeRow {
  readonly kind: "all";
  readonly because: string;
}

const MIB = 1024 * 1024;
/** Administrators make them, or components of the platform. */
const FEW = { kind: "all", because: "tenants may not create them" } as const satisfies WholeRow;

export const KEPT = {
  gatedPods: shares({
    maxOfNamespace: 32 * MIB,
    maxInAll: 64 * MIB,
    rest: "of these pods only the names are kept: each is read when it is its turn",
  }),
  namespaceConfigs: shares({ maxOfNamespace: MIB, maxInAll: 16 * MIB, rest: "they have no effect" }),
  templates: shares({
    maxOfNamespace: MIB,
    maxInAll: 8 * MIB,
    rest: "their images are inspected when there are pods",
  }),
  daemonSets: shares({ maxOfNamespace: MIB, maxInAll: 16 * MIB, rest: "their images are not compared with the nodes" }),
  /** From when the watch shows them until they are reported: the watch itself keeps none. */
  auditedPods: shares({
    maxOfNamespace: 8 * MIB,
    maxInAll: 32 * MIB,
    rest: "they are not reported until they change or are listed again",
  }),
  /** Of the daemon: a kubelet runs some hundreds, but any number may name its node. */
  nodePods: shares({ maxOfNamespace: MIB, maxInAll: 8 * MIB, rest: "what fails in their containers is not reported" }),
  /** In the weight of a DaemonSet for a survey of nodes, of which an ordinary one has two or three: about KiB. */
  taintDaemonSets: shares({ maxOfNamespace: 512, maxInAll: 4_096, rest: "they hold no node back" }),
  taintPods: {
    kind: "all",
    because: "each takes a few hundred bytes, and one that is left out could be evicted",
  } satisfies WholeRow,
  /** Pods and events that are looked at when they come. */
  passing: { kind: "nothing" },
  execFormatEvents: { kind: "all", because: "the leader deletes what a node has beyond 2 000" } satisfies WholeRow,
  failedImages: { kind: "all", because: "the leader makes 50 of a namespace" } satisfies WholeRow,
  clusterConfigs: FEW,
  nodes: FEW,
  namespaces: FEW,
  /** The webhook configurations, the Deployment, the account, the DaemonSet of the monitor: each by its name. */
  ownObjects: FEW,
  globalPullSecret: FEW,
  upgrades: FEW,
  imageBuilds: FEW,
} as const;

function shares(row: Omit<SharesRow, "kind">): SharesRow {
  return { kind: "shares", ...row };
}
