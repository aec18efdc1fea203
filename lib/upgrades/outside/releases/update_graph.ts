// Reads from the update graph (Cincinnati) which releases a channel has, and to which of them one version may be updated.
import * as z from "zod";
import { type GraphReleases, type ReleaseGraph, releasesFrom } from "../../decide/release/graph.ts";
import type { GraphQuery } from "../../decide/release/graph_query.ts";
import { fixedEndpoint, Upstream, type UpstreamLimits, type UpstreamOptions } from "../http/upstream.ts";
import { readJson } from "../http/read_json.ts";
import { UpstreamError } from "../http/upstream_error.ts";

/** Reads graphs. Rejects with UpstreamError when the graph cannot be had. */
export interface UpdateGraph {
  releases(query: GraphQuery, signal: AbortSignal): Promise<GraphReleases>;
}

export type UpdateGraphOptions = Pick<UpstreamOptions, "userAgent" | "clock"> & {
  /** PEM bundles that are trusted beside the public roots: those of the cluster's proxy. */
  readonly caCerts: readonly string[];
  readonly limits?: UpstreamLimits | undefined;
};

/** The graph of a channel of all releases has some 3 MB. */
const LIMITS: UpstreamLimits = { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 };

const NodeAt = z.int().min(0);
const Graph = z.object({
  nodes: z.array(z.object({ version: z.string(), payload: z.string() })),
  edges: z.array(z.tuple([NodeAt, NodeAt])),
  conditionalEdges: z.array(z.object({ edges: z.array(z.object({ from: z.string(), to: z.string() })) })).default([]),
});

export function openUpdateGraph({ caCerts, limits = LIMITS, ...options }: UpdateGraphOptions): UpdateGraph {
  return {
    releases: async (query, signal) => {
      const source = fixedEndpoint({ baseUrl: baseOf(query.upstream), caCerts });
      using upstream = new Upstream({ ...options, limits, source, server: "the update graph" });
      const { channel, version, clusterId, architecture } = query;
      const asked = { channel, version, arch: architecture, ...(clusterId === "" ? {} : { id: clusterId }) };
      const answer = await upstream.send({ method: "GET", path: "", query: asked }, signal);
      const graph: ReleaseGraph = readJson(answer, Graph);
      return releasesFrom(graph, version);
    },
  };
}

function baseOf(upstream: string): string {
  const url = URL.canParse(upstream) ? new URL(upstream) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new UpstreamError(
      "Cannot read from the update graph: spec.upstream of the ClusterVersion is no web address.",
      {
        fault: "misconfigured",
      },
    );
  }
  return `${url.origin}${url.pathname}`;
}
