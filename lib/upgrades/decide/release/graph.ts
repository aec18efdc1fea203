// The update graph: what it is asked, and of its answer which releases one version may be updated to.
import type { ClusterVersion, OfferedRelease } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import { currentVersionOf } from "./target.ts";

/** The graph of a channel, as it is sent. Edges name nodes by their place. */
export interface ReleaseGraph {
  readonly nodes: readonly { readonly version: string; readonly payload: string }[];
  readonly edges: readonly (readonly [number, number])[];
  readonly conditionalEdges: readonly { readonly edges: readonly { readonly from: string; readonly to: string }[] }[];
}

export interface GraphReleases {
  /** Updates, conditional ones included: whether their risks apply is for the cluster to say. */
  readonly offered: readonly OfferedRelease[];
  /** The version itself, as this graph has it: for another architecture its payload is another one. */
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

/** The question for a plan: `multi` for a cluster that has or gets a payload for several architectures, else its control plane's. */
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
