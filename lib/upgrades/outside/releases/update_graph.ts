// Reads from the update graph (Cincinnati) to which releases of a channel one version may be updated.
import { type GraphQuery, type GraphReleases, ReleaseGraph, releasesFrom } from "../../decide/release/graph.ts";
import { fixedEndpoint, Upstream, type UpstreamLimits, type UpstreamOptions } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";

type UpdateGraphOptions = Pick<UpstreamOptions, "userAgent" | "clock"> & {
  readonly caCerts: readonly string[];
};

/** The graph of a channel with all releases has some 3 MB. */
const LIMITS: UpstreamLimits = { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 };

export async function readReleases(
  { upstream, channel, version, clusterId, architecture }: GraphQuery,
  { caCerts, ...options }: UpdateGraphOptions,
  signal: AbortSignal,
): Promise<GraphReleases> {
  const source = fixedEndpoint({ baseUrl: baseOf(upstream), caCerts });
  using server = new Upstream({ ...options, limits: LIMITS, source, server: "the update graph" });
  const query = { channel, version, arch: architecture, ...(clusterId === "" ? {} : { id: clusterId }) };
  return releasesFrom(await server.json({ method: "GET", path: "", query }, ReleaseGraph, signal), version);
}

function baseOf(upstream: string): string {
  const url = URL.canParse(upstream) ? new URL(upstream) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "") return `${url.origin}${url.pathname}`;
  const message = "Cannot read from the update graph: spec.upstream of the ClusterVersion is no web address.";
  throw new UpstreamError(message, { fault: "misconfigured" });
}
