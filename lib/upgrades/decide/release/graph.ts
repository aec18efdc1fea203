// The update graph: the query for it, and the releases that it offers for one version.
import * as z from "zod";
import type { ClusterVersion, OfferedRelease } from "../types/cluster.ts";
import type { DesiredRelease } from "../types/plan.ts";
import { currentVersionOf } from "./target.ts";

const NodeAt = z.int().min(0);

/** The graph of a channel, as the server sends it. Edges hold indices of nodes. */
export const ReleaseGraph = z.object({
  nodes: z.array(z.object({ version: z.string(), payload: z.string() })).readonly(),
  edges: z.array(z.tuple([NodeAt, NodeAt]).readonly()).readonly(),
  conditionalEdges: z.array(z.object({ edges: z.array(z.object({ from: z.string(), to: z.string() })) })).default([]),
});

export type ReleaseGraph = z.output<typeof ReleaseGraph>;

export interface GraphReleases {
  /** Updates, conditional ones included: the cluster itself judges whether their risks apply. */
  readonly offered: readonly OfferedRelease[];
  /** The version's own release in this graph: its payload depends on the architecture. */
  readonly own: OfferedRelease | undefined;
}

/** The releases for one version. A node that an edge names and the graph lacks is left out. */
export function releasesFrom({ nodes, edges, conditionalEdges }: ReleaseGraph, version: string): GraphReleases {
  const releases = nodes.map(({ version, payload: image }): OfferedRelease => ({ version, image }));
  const byVersion = new Map(releases.map((release) => [release.version, release]));
  const plain = edges.filter(([from]) => releases[from]?.version === version).map(([, to]) => releases[to]);
  const conditional = conditionalEdges.flatMap((group) => group.edges).filter(({ from }) => from === version)
    .map(({ to }) => byVersion.get(to));
  const offered = [...plain, ...conditional].flatMap((one) => one === undefined ? [] : [[one.version, one] as const]);
  return { offered: [...new Map(offered).values()], own: byVersion.get(version) };
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
