// How much each reflector retains. Tenants choose number and size of their objects, so these have limits per namespace
// and in total. All limits together fit into half of the Deployment's heap.
import type { ShareLimits } from "./shares.ts";

/** Objects that tenants create, weighed by approximate heap bytes. */
type SharesRow = { readonly kind: "shares" } & Omit<ShareLimits<never>, "weightOf">;

const MIB = 1024 * 1024;
/** No limit: only administrators and platform components may create these objects, or a comment gives the reason. */
const ALL = { kind: "all" } as const;

export const RETENTION = {
  gatedPods: shares({
    maxPerNamespace: 32 * MIB,
    maxTotal: 64 * MIB,
    consequence: "of these pods only the names are kept: each is read when it is its turn",
  }),
  namespaceConfigs: shares({ maxPerNamespace: MIB, maxTotal: 16 * MIB, consequence: "they have no effect" }),
  templates: shares({
    maxPerNamespace: MIB,
    maxTotal: 8 * MIB,
    consequence: "their images are inspected when there are pods",
  }),
  daemonSets: shares({
    maxPerNamespace: MIB,
    maxTotal: 16 * MIB,
    consequence: "their images are not compared with the nodes",
  }),
  /** Kept from the watch event until reported; the reflector itself keeps none. */
  auditedPods: shares({
    maxPerNamespace: 8 * MIB,
    maxTotal: 32 * MIB,
    consequence: "they are not reported until they change or are listed again",
  }),
  /** For the daemon: a kubelet runs some hundred pods, but any number of pods may name its node. */
  nodePods: shares({
    maxPerNamespace: MIB,
    maxTotal: 8 * MIB,
    consequence: "what fails in their containers is not reported",
  }),
  /** Measured not in bytes but in a DaemonSet's cost in a survey of nodes: usually two or three. */
  taintDaemonSets: shares({ maxPerNamespace: 512, maxTotal: 4_096, consequence: "they hold no node back" }),
  /** Each pod takes a few hundred bytes, and a pod that is left out could be evicted. */
  taintPods: ALL,
  /** Pods, events and Workloads handled on arrival. */
  unkept: { kind: "nothing" },
  /** The leader deletes a node's events beyond 2 000. */
  execFormatEvents: ALL,
  /** The leader keeps at most 50 for each namespace, and 500 in all. */
  failedImages: ALL,
  clusterConfigs: ALL,
  nodes: ALL,
  namespaces: ALL,
  /** Webhook configurations, the Deployment, the ServiceAccount, the monitor's DaemonSet: each watched by name. */
  ownObjects: ALL,
  globalPullSecret: ALL,
  upgrades: ALL,
  imageBuilds: ALL,
} as const;

function shares(row: Omit<SharesRow, "kind">): SharesRow {
  return { kind: "shares", ...row };
}
