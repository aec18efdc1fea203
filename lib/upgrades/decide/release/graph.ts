// The update graph: the query for it, and the releases that it offers for one version.
import type { ClusterVersion, OfferedRelease } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import { currentVersionOf } from "./target.ts";

/** The graph of a channel, as the server sends it. Edges hold indices of nodes. */
export interface ReleaseGraph {
  readonly nodes: readonly { readonly version: string; readonly payload: string }[];
  readonly edges: readonly (readonly [number, number])[];
  readonly conditionalEdges: readonly { readonly edges: readonly { readonly from: string; readonly to: string }[] }[];
}

export interface GraphReleases {
  /** Updates, conditional ones included: the cluster itself judges whether their risks apply. */
  readonly offered: readonly OfferedRelease[];
  /** The version's own release in this graph: its payload depends on the architecture. */
  readonly own: OfferedRelease | undefined;
}

/** The releases for one version. A node that an edge names and the graph lacks is left out. */
export function releasesFrom({ nodes, edges, conditionalEdges }: ReleaseGraph, version: string): GraphReleases {
  const byVersion = new Map(nodes.map((node) => [node.version, node]));
  const plain = edges.filter(([from]) => nodes[from]?.version === version).map(([, to]) => nodes[to]);
  const conditional = conditionalEdges.flatMap((group) => group.edges).filter(({ from }) => from === version)
    .map(({ to }) => byVersion.get(to));
  const offered = new Map(
    [...plain, ...conditional].flatMap((node) => node === undefined ? [] : [[node.version, node]]),
  );
  const own = byVersion.get(version);
  return {
    offered: [...offered.values()].map(toRelease),
    own: own === undefined ? undefined : toRelease(own),
  };
}

function toRelease({ version, payload }: ReleaseGraph["nodes"][number]): OfferedRelease {
  return { version, image: payload };
}

const DEFAULT_GRAPH = "https://api.openshift.com/api/upgrades_info/v1/graph";

export interface GraphQuery {
  readonly upstream: string;
  readonly channel: string;
  readonly version: string;
  readonly clusterId: string;
  readonly architecture: string;
}

/** `multi` for a cluster that has or gets a multi-architecture payload, else the architecture of its control plane. */
export function graphQueryOf(
  cv: ClusterVersion,
  { desired, controlPlane }: { readonly desired: DesiredRelease; readonly controlPlane: string },
): GraphQuery {
  const isMulti = cv.desired.architecture === "Multi" || desired.architecture === "Multi";
  return {
    upstream: cv.upstream === "" ? DEFAULT_GRAPH : cv.upstream,
    channel: desired.channel === "" ? cv.channel : desired.channel,
    version: currentVersionOf(cv) ?? cv.desired.version,
    clusterId: cv.clusterId,
    architecture: isMulti ? "multi" : controlPlane,
  };
}
